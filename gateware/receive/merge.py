# SPDX-License-Identifier: BSD-2-Clause
"""Marks received TCP segments that continue the frame before them.

A receiver that merges such segments (generic receive offload) compares their headers one by one. The mark
replaces this comparison: the driver appends the segment's payload. The conditions are those of Linux'
tcp_gro_receive() and inet_gro_receive(), so that a merged packet can be cut again into the same segments. The
hardware does not check checksums here: the sums are in the descriptors (checksum.py).
"""

from migen import *

from litex.gen import *

from moderato.gateware.frame.observer import Observer
from moderato.gateware.receive.rss import TCP, ethertype

# Words of the headers, counted from the one that ends with octet 1: the IP header starts with word 4.
ETHERNET_WORDS = 4
IPV4_WORDS, IPV6_WORDS = 5, 10
MOST_WORDS     = 32  # A power of two; an IPv6 header and the longest TCP header end at word 28.
TCP_WORDS      = 5
ETHERNET_OCTETS, FCS_OCTETS = 14, 4


def big_endian(octets):
    """The number that these octets form on the wire."""
    return Cat(*reversed(octets))

# Continuation -------------------------------------------------------------------------------------

class Continuation(Observer):
    """Whether a frame continues the one before it. Both are TCP over IP, and the first one was kept.

    octets   of the frame, FCS included, in the clock after its last word.
    queue    the frame's queue, with `decided`: a frame continues only one of the same queue.
    decided, kept
             the frame's fate, at least two clocks after its last word.
    continues
             the result for this frame, with `decided`. Ethernet, IP and TCP headers of both frames are equal
             except for these fields: IPv4's length, header checksum, and identification, which is one more;
             IPv6's length; TCP's checksum and sequence number, which continues; PSH. Both have payload, and no
             flags but ACK; only the second one may have PSH. Neither has IPv4 options, fragment fields, a VLAN
             tag, or padding. All payloads of such a run have the same length; a shorter one ends the run.
    """
    def __init__(self):
        super().__init__()
        self.octets    = Signal(15)
        self.queue     = Signal()
        self.decided   = Signal()
        self.kept      = Signal()
        self.continues = Signal()

        # # #

        # Words, aligned to the IP header, next to those of the frame before.
        # -------------------------------------------------------------------
        before = Signal(16)
        place  = Signal(max=MOST_WORDS)
        number = Signal(max=MOST_WORDS)
        word   = Signal(32)
        header = Memory(32, MOST_WORDS)
        port   = header.get_port(write_capable=True, async_read=True)
        self.specials += header, port
        octets = [word[8*n:8*n + 8] for n in range(4)]
        old    = [port.dat_r[8*n:8*n + 8] for n in range(4)]
        self.comb += [
            number.eq(Mux(self.first, 0, place)),
            word.eq(Cat(before, self.data[:16])),
            port.adr.eq(number),
            port.dat_w.eq(word),
            port.we.eq(self.take),
        ]
        self.sync += If(self.take,
            before.eq(self.data[16:]),
            If(number != MOST_WORDS - 1, place.eq(number + 1)),
        )

        # The frame before, if it may be continued.
        # -----------------------------------------
        open_    = Signal()
        expected = Signal(32) # Sequence number.
        size     = Signal(16) # Of the payload of the first frame in the run.
        queue    = Signal()

        # This frame.
        # -----------
        differs  = Signal()
        whole    = Signal()   # All headers have passed, and meet the conditions.
        pushed   = Signal()
        v6       = Signal()
        at       = Signal(max=16)
        tcp      = Signal(16) # Octets from the TCP header on.
        words    = Signal(4)  # Of the TCP header.
        sequence = Signal(32)
        lower    = Signal()
        upper    = Signal()
        self.comb += [
            lower.eq(word[:16] == port.dat_r[:16]),
            upper.eq(word[16:] == port.dat_r[16:]),
        ]

        def compare(same):
            return If(~same, NextValue(differs, 1))

        self.fsm = fsm = FSM(reset_state="REST")
        fsm.act("ETHERNET",
            NextValue(at, 0),
            If(self.take,
                compare(lower & upper),
                If(number == ETHERNET_WORDS - 1,
                    NextValue(v6, ethertype(word[16:], "ipv6")),
                    If(ethertype(word[16:], "ipv4"),
                        NextState("IPV4")
                    ).Elif(ethertype(word[16:], "ipv6"),
                        NextState("IPV6")
                    ).Else(
                        NextState("REST")
                    )
                )
            )
        )
        fsm.act("IPV4",
            If(self.take,
                NextValue(at, at + 1),
                Case(at, {
                    0: [
                        compare(lower),
                        NextValue(tcp, big_endian(octets[2:]) - 4*IPV4_WORDS),
                        If(octets[0] != 0x45, NextState("REST")),
                    ],
                    1: [
                        compare(upper & (big_endian(octets[:2]) == (big_endian(old[:2]) + 1)[:16])),
                        # Of these bits only "don't fragment" may be set.
                        If(((octets[2] & 0xBF) != 0) | (octets[3] != 0), NextState("REST")),
                    ],
                    2: [
                        compare(lower),
                        If(octets[1] != TCP, NextState("REST")),
                    ],
                    "default": compare(lower & upper),
                }),
                If(at == IPV4_WORDS - 1,
                    NextValue(at, 0),
                    NextState("TCP"),
                )
            )
        )
        fsm.act("IPV6",
            If(self.take,
                NextValue(at, at + 1),
                Case(at, {
                    0: [
                        compare(lower & upper),
                        If(octets[0][4:] != 6, NextState("REST")),
                    ],
                    1: [
                        compare(upper),
                        NextValue(tcp, big_endian(octets[:2])),
                        If(octets[2] != TCP, NextState("REST")),
                    ],
                    "default": compare(lower & upper),
                }),
                If(at == IPV6_WORDS - 1,
                    NextValue(at, 0),
                    NextState("TCP"),
                )
            )
        )
        fsm.act("TCP",
            If(self.take,
                NextValue(at, at + 1),
                Case(at, {
                    1: [
                        compare(big_endian(octets) == expected),
                        NextValue(sequence, big_endian(octets)),
                    ],
                    3: [
                        compare((octets[0] == old[0]) & upper),
                        NextValue(words, octets[0][4:]),
                        NextValue(pushed, octets[1][3]),
                        # Reserved bits, and all flags but PSH and ACK.
                        If((octets[0][:4] != 0) | ((octets[1] & 0xF7) != 0x10) | (octets[0][4:] < TCP_WORDS),
                            NextState("REST")
                        ),
                    ],
                    4: compare(upper), # The urgent pointer.
                    "default": compare(lower & upper),
                }),
                If((at >= TCP_WORDS - 1) & (at == words - 1),
                    NextValue(whole, 1),
                    NextState("REST"),
                )
            )
        )
        fsm.act("REST")
        for state in ("ETHERNET", "IPV4", "IPV6", "TCP", "REST"):
            fsm.act(state, If(self.take & self.first,
                NextValue(differs, ~open_ | ~upper), # The lower half precedes the frame.
                NextValue(whole, 0),
                NextState("ETHERNET"),
            ))

        # End and fate: each sum comes in the clock after its operands.
        # -------------------------------------------------------------
        payload = Signal(16)
        filled  = Signal()   # It has payload, and no octets after it.
        after   = Signal(32) # The next sequence number.
        fixed   = ETHERNET_OCTETS + FCS_OCTETS
        good    = Signal()
        self.sync += [
            payload.eq(tcp - 4*words),
            after.eq(sequence + payload),
            filled.eq((tcp == self.octets - Mux(v6, fixed + 4*IPV6_WORDS, fixed + 4*IPV4_WORDS)) & (tcp > 4*words)),
        ]
        self.comb += [
            good.eq(whole & filled),
            self.continues.eq(good & ~differs & (payload <= size) & (self.queue == queue)),
        ]
        self.sync += If(self.decided,
            open_.eq(self.kept & good & ~pushed & (~self.continues | (payload == size))),
            expected.eq(after),
            queue.eq(self.queue),
            If(~self.continues, size.eq(payload)),
        )

    def join(self, receive):
        fifo = receive.fifo
        self.observe(receive.sink, ~receive.started)
        self.comb += [
            self.octets.eq(receive.frame_octets),
            self.decided.eq(fifo.commit | fifo.abort),
            self.kept.eq(fifo.accepted),
            fifo.param.continues.eq(self.continues),
        ]
        if receive.rss:
            self.comb += self.queue.eq(receive.rss.queue)
