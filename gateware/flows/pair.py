# SPDX-License-Identifier: BSD-2-Clause
"""Two MACs that forward to each other."""

from migen import *

from litex.gen import *

from moderato.gateware.registers.table import RX_OFFSET

NOTHING = 2**15 - 1 # Octets of a frame until the first one that is summed.

# Pair ---------------------------------------------------------------------------------------------

def forwards(receiver, sender):
    """Connects a ModeratoMAC that receives frames of flows to the one that sends them."""
    flows   = receiver.flows
    forward = flows.forward
    port    = sender.tx_queues.forwarded
    joined  = [
        flows.sends.eq(sender.registers.field("CTRL", "TX_ENABLE")),
        sender.forwarding.eq(forward.awake),
        forward.granted.eq(port.granted),
        forward.fits.eq(port.fits),
        port.wants.eq(forward.wants),
        port.words.eq(forward.words),
        port.write.eq(forward.write),
        port.data.eq(forward.data),
        port.commit.eq(forward.commit),
        port.param.length.eq(forward.length),
        port.param.offset.eq(RX_OFFSET),
    ]
    if hasattr(port.param, "tagged") and hasattr(forward.action, "insert"):
        joined += [
            port.param.tagged.eq(forward.action.insert),
            port.param.tag.eq(forward.action.tci),
        ]
    if port.checksum:
        # The result is not inserted, but each frame needs one.
        joined += [
            port.checksum.write.eq(forward.write),
            port.checksum.number.eq(forward.number),
            port.checksum.last.eq(forward.last),
            port.checksum.start.eq(NOTHING),
        ]
    return joined


class FlowPair(LiteXModule):
    """Connects two ModeratoMACs that have a flow table, `macs`: each sends frames that the other one receives. Both
    are in one clock domain. Raises ValueError."""
    def __init__(self, one, other):
        for mac in (one, other):
            if mac.flows is None:
                raise ValueError("both MACs of a pair need a flow table: build them with flows=9, say.")
        if len({hasattr(mac.tx_queues.forwarded.param, "tagged") for mac in (one, other)}) > 1:
            raise ValueError("one MAC of a pair has VLANs, the other one would send its frames without their tags: "
                "build both with vlan=True, or none.")
        self.macs = (one, other)
        self.comb += forwards(one, other) + forwards(other, one)
