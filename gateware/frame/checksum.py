# SPDX-License-Identifier: BSD-2-Clause
"""The Internet checksum (RFC 1071): the sums that the stack would take over each frame.

No protocol is known here. Of a received frame the driver gets the sum of all that follows the
Ethernet header; of one to be sent it says from where on to sum, and where the result belongs.
"""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from moderato.gateware.bus.dma import DATA_BYTES

SUM_BITS = 16

# One's Complement Sum -----------------------------------------------------------------------------

class OnesComplementSum(LiteXModule):
    """Adds words of `width` bits, 16 times a power of two, with an end-around carry; the sum of their
    16-bit halves is `sum`, 0 only if all were 0, so many clocks after the last word as `latency` says.

    `first` begins a sum anew with the word that `add` takes. An addition's carry goes into the next
    one, for a carry that goes around within a clock would be twice as long. The addition that folds
    the last one's never has a carry of its own: what a carry leaves behind is not all ones.
    """
    def __init__(self, width):
        self.add   = Signal()
        self.first = Signal()
        self.word  = Signal(width)
        self.sum   = Signal(SUM_BITS)

        # # #

        total = Signal(width + 1) # The topmost bit is the carry.
        self.sync += If(self.add,
            total.eq(self.word + Mux(self.first, 0, total[:width]) + (total[width] & ~self.first))
        )
        self.latency = 1
        while width > SUM_BITS:
            width //= 2
            folded = Signal(width + 1)
            self.sync += folded.eq(total[:width] + total[width:2*width] + total[2*width])
            total = folded
            self.latency += 1
        self.comb += self.sum.eq(total[:width] + total[width])

# Tx Checksum --------------------------------------------------------------------------------------

class TxChecksum(LiteXModule):
    """Sums each frame on its way into the Tx FIFO; `source` gives the checksums in the frames' order,
    each a few clocks after its frame's last word.

    max_frames  how many frames the FIFO can hold.

    write, data, number, last
                as the words of a frame go into the FIFO: the number of `data` among them, and which
                one is the last.
    start       octets from the first word's beginning to the first one that counts,
    end         from the last word's beginning to the frame's end, 0 if both ends are one, and
    odd         whether the frame starts at an odd octet: all with `write`.

    The checksum is the inverted sum, its first octet in bits 7:0; 0xffff for 0, which to UDP means
    that there is none, and to all others is the same.
    """
    def __init__(self, max_frames):
        self.write  = Signal()
        self.data   = Signal(8*DATA_BYTES)
        self.number = Signal(12)
        self.last   = Signal()
        self.start  = Signal(15)
        self.end    = Signal(3)
        self.odd    = Signal()
        self.awake  = Signal()

        # # #

        # Octets that count.
        # ------------------
        in_word = log2_int(DATA_BYTES)
        first   = Signal(12)
        lanes   = Signal(DATA_BYTES)
        begun   = Signal(DATA_BYTES)
        ended   = Signal(DATA_BYTES)
        self.comb += [
            first.eq(self.start[in_word:]),
            If(self.number == first,
                Case(self.start[:in_word], {n: begun.eq(2**DATA_BYTES - 2**n) for n in range(DATA_BYTES)})
            ).Elif(self.number > first,
                begun.eq(2**DATA_BYTES - 1)
            ),
            If(self.last,
                Case(self.end, {n: ended.eq(2**DATA_BYTES - 2**n) for n in range(1, DATA_BYTES)})
            ),
            lanes.eq(begun & ~ended),
        ]
        self.sum = total = OnesComplementSum(8*DATA_BYTES)
        data     = Signal(8*DATA_BYTES)
        counts   = Signal(DATA_BYTES)
        self.sync += [
            data.eq(self.data),
            counts.eq(lanes),
            total.add.eq(self.write),
            If(self.write, total.first.eq(self.number == 0)),
        ]
        self.comb += [total.word[8*n:8*n + 8].eq(Mux(counts[n], data[8*n:8*n + 8], 0))
            for n in range(DATA_BYTES)]

        # Results.
        # --------
        depth    = 1 + total.latency
        finished = Signal(depth) # Frames between their last word and their sum,
        swapped  = Signal(depth) # and which of these started at an odd octet.
        result   = Signal(SUM_BITS)
        self.sync += [
            finished.eq(Cat(self.write & self.last, finished)),
            swapped.eq(Cat(self.odd, swapped)),
        ]
        self.fifo   = fifo = stream.SyncFIFO([("checksum", SUM_BITS)], max_frames)
        self.source = fifo.source
        self.comb += [
            result.eq(Mux(swapped[-1], Cat(total.sum[8:], total.sum[:8]), total.sum)),
            fifo.sink.valid.eq(finished[-1]),
            fifo.sink.checksum.eq(Mux(result == 2**SUM_BITS - 1, result, ~result)),
            self.awake.eq(self.write | (finished != 0)),
        ]
