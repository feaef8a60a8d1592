# SPDX-License-Identifier: BSD-2-Clause
"""One MAC's part of forwarding: it looks up received frames, and its pair's other MAC sends those of known flows."""

from migen import *

from litex.gen import *

from moderato.gateware.bus.dma          import DATA_BYTES
from moderato.gateware.flows.forward    import Forward
from moderato.gateware.flows.packet     import ETHERNET_OCTETS, Packet
from moderato.gateware.flows.table      import FlowTable
from moderato.gateware.flows.waiting    import Waiting
from moderato.gateware.frame.frame_fifo import FrameFIFO
from moderato.gateware.frame.records    import flow_frame

LEAST_WORDS = 8 # Words of the shortest frame: the FIFO runs out of words before it runs out of records.

# Flows --------------------------------------------------------------------------------------------

class Flows(LiteXModule):
    """Forwards frames of a MAC with `options` to its pair's other MAC.

    For Receive: `take`, `first`, `data`, `octets`, `tagged` and `vid` are Packet's. A frame's fate waits while this
    is `busy`. Then `hit` is set if the flow is known, with its `entry` and the frame's `length` without padding.
    Receive writes such frames to `fifo`, and drops a frame for which there is no room.

    For PauseSource: `full` if the rest of `fifo` is needed for frames that arrive before a pause takes effect, and
    `roomy`.

    sends  the other MAC has TX_ENABLE.
    """
    def __init__(self, options):
        words  = 2**options.flow_fifo_order//DATA_BYTES
        frames = words//LEAST_WORDS
        self.packet  = packet  = Packet()
        self.fifo    = fifo    = FrameFIFO(options.flow_fifo_order, flow_frame(options), frames)
        self.waiting = waiting = Waiting(options.flows, frames)
        self.table   = table   = FlowTable(options.flows, options.flow_nat, options.vlan)
        self.forward = forward = Forward(fifo, options.flow_nat, options.vlan)
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
        self.full   = Signal()
        self.roomy  = Signal()
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
            table.searched.eq(waiting.done),
            waiting.comes.eq(fifo.accepted),
            waiting.entry.eq(fifo.param.entry),
            waiting.leaves.eq(fifo.release),
            waiting.frames.eq(fifo.frames),
            waiting.search.eq(table.search & ~forward.moving),
            waiting.target.eq(table.ended),
            waiting.all.eq(table.all),
            forward.known.eq(waiting.known & ~table.search),
            forward.ended.eq(waiting.ended),
            self.full.eq(fifo.space < options.flow_room//DATA_BYTES),
            self.roomy.eq(fifo.space >= options.flow_room//DATA_BYTES + words//8),
            self.awake.eq(packet.ready | table.awake | forward.awake),
        ]
        self.counters = {"RX_FLOW_FRAMES": forward.moved}
        self.drops    = {"RX_FLOW_DROPS": forward.dropped + (fifo.commit & ~fifo.accepted)}

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
        # The registers of a new entry; they do not change while a command is in progress.
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
