# SPDX-License-Identifier: BSD-2-Clause
"""The headers of TCP segments, made from those of a longer packet.

The segmenter replaces the fields that differ between segments. In the IP header, these are the length, and IPv4's
identification and checksum. In TCP's header, they are the sequence number, the flags, and the sum of the
pseudo-header in the place of the checksum. checksum.py turns that sum into the checksum.

https://docs.kernel.org/networking/segmentation-offloads.html
"""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from moderato.gateware.bus.dma         import DATA_BYTES
from moderato.gateware.frame.checksum  import SUM_BITS, OnesComplementSum
from moderato.gateware.registers.table import HEADER_BYTES

# Pairs of octets of the longest headers. Ethernet with two VLAN tags, IPv6 and TCP with all options have 61.
PAIRS    = HEADER_BYTES//2
PER_WORD = DATA_BYTES//2

# Offsets of fields in pairs from the start of their header (RFC 791, 8200, 9293).
IPV4_LENGTH, IPV4_ID, IPV4_CHECKSUM, IPV6_LENGTH = 1, 2, 5, 2
IPV6_OCTETS = 40 # Of the header, which the length field of IPv6 does not include.
TCP_SEQUENCE, TCP_FLAGS, TCP_CHECKSUM = 2, 6, 8
TCP_PAIRS, IP_PAIRS = 10, 10 # At least.
FIN, PSH, CWR = 0, 3, 7      # Bits of the flags.


def _swapped(pair):
    """Converts 16 bits between the order in memory, first octet in bits 7:0, and a number."""
    return Cat(pair[8:], pair[:8])

# Segmenter ----------------------------------------------------------------------------------------

class Segmenter(LiteXModule):
    """Keeps the headers of a packet, and returns those of each segment.

    write, data  stores the next word of the headers; `clear` starts again.
    network, start, length
                 in pairs of octets: offsets of the IP and TCP headers, and the length of all headers.
    mss, payload octets of the longest segment's payload, and of the whole payload. All five stay the same.

    learn        reads the headers once, after the last word.
    cut          makes the headers of the next segment. After both, it is `busy` from the next clock on.
    size         octets of this segment's payload, from the clock after `cut` on.
    source       the segment's headers, two octets at a time, the first in bits 7:0.
    left         octets of payload after this segment.
    """
    def __init__(self):
        self.clear   = Signal()
        self.write   = Signal()
        self.data    = Signal(8*DATA_BYTES)
        self.network = Signal(max=PAIRS)
        self.start   = Signal(max=PAIRS)
        self.length  = Signal(max=PAIRS + 1)
        self.mss     = Signal(14)
        self.payload = Signal(16)
        self.learn   = Signal()
        self.cut     = Signal()
        self.busy    = Signal()
        self.size    = Signal(14)
        self.left    = Signal(16)
        self.source  = stream.Endpoint([("pair", 16)])

        # # #

        # Memory.
        # -------
        storage = Memory(8*DATA_BYTES, PAIRS//PER_WORD)
        into    = storage.get_port(write_capable=True)
        out     = storage.get_port(async_read=True)
        self.specials += storage, into, out
        number = Signal(max=PAIRS//PER_WORD)
        at     = Signal(max=PAIRS)
        self.comb += [
            into.adr.eq(number),
            into.dat_w.eq(self.data),
            into.we.eq(self.write),
            out.adr.eq(at[log2_int(PER_WORD):]),
        ]
        self.sync += If(self.clear, number.eq(0)).Elif(self.write, number.eq(number + 1))

        # The header, pair by pair, and the meaning of each pair.
        # -------------------------------------------------------
        pair   = Signal(16)
        last   = Signal()
        in_ip  = Signal(max=PAIRS)
        in_tcp = Signal(max=PAIRS)
        fields = {name: Signal(name=f"is_{name}") for name in ("version", "ipv4", "ipv4_length", "id",
            "ipv4_checksum", "ipv6_length", "upper", "lower", "flags", "checksum")}
        is_    = fields.__getitem__
        ipv6   = Signal()
        self.comb += [
            in_ip.eq(at - self.network),
            in_tcp.eq(at - self.start),
        ]
        read = [
            Case(at[:log2_int(PER_WORD)], {n: NextValue(pair, _swapped(out.dat_r[16*n:16*n + 16]))
                for n in range(PER_WORD)}),
            NextValue(last, at + 1 == self.length),
            NextValue(is_("version"), at == self.network),
            NextValue(is_("ipv4"), (at >= self.network) & (at < self.start)),
            NextValue(is_("ipv4_length"), ~ipv6 & (in_ip == IPV4_LENGTH)),
            NextValue(is_("id"), ~ipv6 & (in_ip == IPV4_ID)),
            NextValue(is_("ipv4_checksum"), ~ipv6 & (in_ip == IPV4_CHECKSUM)),
            NextValue(is_("ipv6_length"), ipv6 & (in_ip == IPV6_LENGTH)),
            NextValue(is_("upper"), in_tcp == TCP_SEQUENCE),
            NextValue(is_("lower"), in_tcp == TCP_SEQUENCE + 1),
            NextValue(is_("flags"), in_tcp == TCP_FLAGS),
            NextValue(is_("checksum"), in_tcp == TCP_CHECKSUM),
            NextValue(at, at + 1),
        ]

        # Results of `learn`, and values for this segment.
        # -----------------------------------------------
        identification = Signal(16)
        sequence       = Signal(32)
        pseudo         = Signal(16)       # The pseudo-header's sum without a length.
        checksum       = Signal(16)       # The same with this segment's length.
        constant       = Signal(SUM_BITS) # The sum of IPv4 header fields that stay.
        ipv4_checksum  = Signal(16)
        ip_length      = Signal(16)
        tcp_length     = Signal(16)
        around_ip      = Signal(9)        # Octets of headers that the IP length includes,
        around_tcp     = Signal(9)        # and that the pseudo-header's length includes.
        first          = Signal()
        flags          = Signal(16)
        patched        = Signal(16)
        self.sum = total = OnesComplementSum(SUM_BITS)
        self.comb += [
            flags.eq(pair),
            If(~first, flags[CWR].eq(0)),
            If(self.left != 0, flags[FIN].eq(0), flags[PSH].eq(0)),
            patched.eq(pair),
            If(is_("ipv4_length") | is_("ipv6_length"), patched.eq(ip_length)),
            If(is_("id"), patched.eq(identification)),
            If(is_("ipv4_checksum"), patched.eq(ipv4_checksum)),
            If(is_("upper"), patched.eq(sequence[16:])),
            If(is_("lower"), patched.eq(sequence[:16])),
            If(is_("flags"), patched.eq(flags)),
            If(is_("checksum"), patched.eq(checksum)),
            self.source.pair.eq(_swapped(patched)),
        ]

        self.fsm = fsm = FSM(reset_state="IDLE")
        self.comb += self.busy.eq(~fsm.ongoing("IDLE"))
        fsm.act("IDLE",
            NextValue(at, 0),
            If(self.learn,
                NextValue(self.left, self.payload),
                NextValue(first, 1),
                NextValue(ipv6, 0),
                NextState("BEGIN"),
            ),
            If(self.cut,
                NextValue(self.size, Mux(self.left < self.mss, self.left, self.mss)),
                NextState("LENGTHS"),
            ),
        )
        fsm.act("BEGIN",
            total.first.eq(1),
            total.add.eq(1),
            NextState("READ"),
        )
        fsm.act("READ",
            *read,
            NextState("LEARN"),
        )
        fsm.act("LEARN",
            total.word.eq(pair),
            total.add.eq(is_("ipv4") & ~(is_("ipv4_length") | is_("id") | is_("ipv4_checksum"))),
            If(is_("version"), NextValue(ipv6, pair[12:] == 6)),
            If(is_("id"), NextValue(identification, pair)),
            If(is_("upper"), NextValue(sequence[16:], pair)),
            If(is_("lower"), NextValue(sequence[:16], pair)),
            If(is_("checksum"), NextValue(pseudo, pair)),
            If(last,
                NextState("LEARNT")
            ).Else(
                NextState("READ")
            ),
        )
        fsm.act("LEARNT",
            NextValue(constant, total.sum),
            NextValue(around_ip, Cat(C(0, 1), self.length - self.network) - Mux(ipv6, IPV6_OCTETS, 0)),
            NextValue(around_tcp, Cat(C(0, 1), self.length - self.start)),
            NextState("IDLE"),
        )
        fsm.act("LENGTHS",
            NextValue(ip_length, around_ip + self.size),
            NextValue(tcp_length, around_tcp + self.size),
            NextValue(self.left, self.left - self.size),
            total.first.eq(1),
            total.add.eq(1),
            total.word.eq(constant),
            NextState("IP_LENGTH"),
        )
        fsm.act("IP_LENGTH",
            total.add.eq(1),
            total.word.eq(ip_length),
            NextState("IDENTIFICATION"),
        )
        fsm.act("IDENTIFICATION",
            total.add.eq(1),
            total.word.eq(identification),
            NextState("PSEUDO"),
        )
        fsm.act("PSEUDO",
            NextValue(ipv4_checksum, ~total.sum),
            total.first.eq(1),
            total.add.eq(1),
            total.word.eq(pseudo),
            NextState("TCP_LENGTH"),
        )
        fsm.act("TCP_LENGTH",
            total.add.eq(1),
            total.word.eq(tcp_length),
            NextState("CHECKSUM"),
        )
        fsm.act("CHECKSUM",
            NextValue(checksum, total.sum),
            NextState("PAIR"),
        )
        fsm.act("PAIR",
            *read,
            NextState("SEND"),
        )
        fsm.act("SEND",
            self.source.valid.eq(1),
            self.source.last.eq(last),
            If(self.source.ready,
                If(last,
                    NextValue(identification, identification + 1),
                    NextValue(sequence, sequence + self.size),
                    NextValue(first, 0),
                    NextState("IDLE"),
                ).Else(
                    NextState("PAIR")
                )
            )
        )
        # A packet may be aborted at any time.
        for state in fsm.actions:
            if state != "IDLE":
                fsm.act(state, If(self.clear, NextState("IDLE")))
