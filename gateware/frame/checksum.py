# SPDX-License-Identifier: BSD-2-Clause
"""The Internet checksum (RFC 1071): the sums that the stack would calculate for each frame.

This module knows no protocol. For a received frame, the driver gets the sum of everything after the Ethernet
header. For a frame to be sent, the driver gives the start of the sum and the place of the result.
"""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from moderato.gateware.bus.dma import DATA_BYTES

SUM_BITS = 16

# One's Complement Sum -----------------------------------------------------------------------------

class OnesComplementSum(LiteXModule):
    """Adds words of `width` bits, 16 times a power of two, with an end-around carry. `latency` clocks after the
    last word, `sum` is the sum of all 16-bit parts. It is 0 only if all of them were 0.

    `first` starts a new sum with the word that `add` takes. The carry of an addition goes into the next one,
    because an end-around carry within one clock would double the carry chain. The addition that folds in the
    last carry has none itself: after a carry, the sum is not all ones.
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
    """Sums each frame on its way into the Tx FIFO. `source` returns the checksums in the order of the frames, each
    a few clocks after the last word of its frame.

    max_frames  the most frames that the FIFO can hold.

    With each `write` of a word `data` into the FIFO:

    number, last
                its number in the frame, and whether it is the last one.
    start       octets from the start of the first word to the first octet that counts.
    end         octets from the start of the last word to the end of the frame; 0 if that is the word's end.
    odd         the frame starts at an odd octet.

    The checksum is the inverted sum, with the first octet in bits 7:0. It is 0xffff instead of 0: both mean the
    same, but for UDP, where 0 means that there is no checksum.
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

        # Octets that are summed.
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
        finished = Signal(depth) # Frames between their last word and their sum.
        swapped  = Signal(depth) # Those of them that started at an odd octet.
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
