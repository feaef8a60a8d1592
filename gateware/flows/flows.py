# SPDX-License-Identifier: BSD-2-Clause
"""One MAC's part of forwarding: what it receives is looked up in its table, and leaves for its pair's other MAC."""

from migen import *

from litex.gen import *

from moderato.gateware.flows.forward import Forward
from moderato.gateware.flows.packet  import ETHERNET_OCTETS, Packet
from moderato.gateware.flows.table   import FlowTable

# Flows --------------------------------------------------------------------------------------------

class Flows(LiteXModule):
    """Frames of a MAC with `options`, whose Rx FIFO is `fifo`, and those of it that are `forwarded` (RxQueue).

    For Receive: `take`, `first`, `data`, `octets`, `tagged` and `vid` as Packet has them. While it is `busy`, a
    frame's fate has to wait; then `hit` says whether a flow is known, by which `entry` it leaves, and the
    frame's `length` without padding.

    sends  the other MAC does.
    """
    def __init__(self, options, fifo, forwarded):
        self.packet  = packet  = Packet()
        self.table   = table   = FlowTable(options.flows, options.flow_nat, options.vlan, options.max_frames)
        self.forward = forward = Forward(forwarded, options.flow_nat, options.vlan)
        self.take   = packet.take
        self.first  = packet.first
        self.data   = packet.data
        self.octets = packet.octets
        self.tagged = packet.tagged
        self.vid    = packet.vid
        self.enable = Signal()
        self.sends  = Signal()
        self.time   = Signal(16)
        self.busy   = table.busy
        self.hit    = Signal()
        self.entry  = table.entry
        self.length = Signal(14)
        self.awake  = Signal()

        # # #

        self.comb += [
            table.start.eq(packet.ready),
            table.key.raw_bits().eq(packet.key.raw_bits()),
            table.hash.eq(packet.hash),
            self.hit.eq(table.hit & packet.plain & self.enable & self.sends),
            self.length.eq(packet.total + ETHERNET_OCTETS),
            table.address.eq(forward.address),
            forward.action.raw_bits().eq(table.action.raw_bits()),
            table.moving.eq(forward.moving),
            table.counted.eq(forward.moved),
            table.octets.eq(forward.octets),
            table.time.eq(self.time),
            table.waiting.eq(forwarded.frames),
            table.left.eq(forward.moved | forward.dropped),
            forward.pressed.eq((fifo.space < 2**options.rx_order//16) | (fifo.frames >= fifo.max_frames//2)),
            self.awake.eq(packet.ready | table.awake | forward.awake),
        ]
        self.counters = {"RX_FLOW_FRAMES": forward.moved, "RX_FLOW_DROPS": forward.dropped}

    def connect_registers(self, regs, ticker):
        table, value = self.table, regs.value
        self.comb += [
            self.time.eq(ticker.time),
            self.enable.eq(regs.field("FLOW_CTRL", "ENABLE")),
            self.packet.mtu.eq(regs.field("FLOW_CTRL", "MTU")),
            [getattr(table, name.lower()).eq(regs.commands("FLOW_COMMAND", name))
                for name in ("WRITE", "REMOVE", "READ", "CLEAR")],
            table.target.eq(regs.data),
            regs.field("FLOW_STATUS", "BUSY").eq(table.command),
            regs.field("FLOW_STATUS", "PEER").eq(self.sends),
            regs.field("FLOW_STATUS", "TIME").eq(self.time),
            value["FLOW_FRAMES"].eq(table.counters.frames),
            value["FLOW_OCTETS"].eq(table.counters.octets),
            value["FLOW_LAST"].eq(table.counters.last),
        ]
        # A new entry, as it is put together: not while the table takes one.
        action = table.new_action
        parts  = {
            "FLOW_SOURCE":      table.new_key.source,
            "FLOW_DESTINATION": table.new_key.destination,
            "FLOW_PORTS":       table.new_key.ports,
            "FLOW_KIND":        table.new_key.kind,
            "FLOW_MAC_0":       action.stations[0:32],
            "FLOW_MAC_1":       action.stations[32:64],
            "FLOW_MAC_2":       action.stations[64:96],
        }
        if hasattr(action, "insert"):
            parts |= {"FLOW_TAG": Cat(action.tci, action.insert)}
        if hasattr(action, "network"):
            parts |= {
                "FLOW_NEW_SOURCE":      action.source,
                "FLOW_NEW_DESTINATION": action.destination,
                "FLOW_NEW_PORTS":       action.ports,
                "FLOW_SUMS":            Cat(action.network, action.transport),
            }
        self.sync += [If(regs.strobe[name] & ~table.command, part.eq(regs.data)) for name, part in parts.items()]
