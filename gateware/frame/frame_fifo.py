# SPDX-License-Identifier: BSD-2-Clause
"""FIFO of whole frames.

A frame becomes visible to the reader only when it is complete and good, and disappears whole when it
is not: a starved bus delays or drops frames, it never corrupts one.
"""

from migen import *

from litex.gen import *

# Frame FIFO ---------------------------------------------------------------------------------------

class FrameFIFO(LiteXModule):
    """Stores frames of 64-bit words with a record of parameters for each frame.

    order       the FIFO holds 2**order bytes.
    param       layout of the per-frame record, [(name, width), ...].
    max_frames  how many frames it can hold, whatever their length.

    Write side: `write` stores `data`; after the last word, `commit` (with `param` valid) makes the
    frame visible, `abort` forgets it. A word that finds no room sets `overflow`, from then on the
    frame can only be aborted: commit acts as abort, as it does when max_frames are held (`accepted`
    tells). `commit` and `abort` come at least one clock after the last `write`. No back-pressure.

    Read side: `available` and `head` (the record) describe the oldest frame; into an empty FIFO it comes a
    clock after it counts in `frames`. `word` is its next word, `next` steps on. `release` frees the whole
    frame, whether its words were all read or not.

    `longest` is how many octets of a frame it can hold, `max_frames` as above.

    `space` is the number of free words, uncommitted ones counted as taken; `frames` the number of
    committed frames, and `held` whether there are any. `awake`: one of them is not `available` yet.
    """
    def __init__(self, order, param, max_frames=64):
        depth  = 2**order//8
        awidth = log2_int(depth)
        self.longest    = 2**order - 8 # It may start late in its first word.
        self.max_frames = max_frames

        # Write side.
        self.write    = Signal()
        self.data     = Signal(64)
        self.commit   = Signal()
        self.abort    = Signal()
        self.param    = Record(param)
        self.accepted = Signal()
        self.space    = Signal(awidth + 1)

        # Read side.
        self.available = Signal()
        self.head      = Record(param)
        self.word      = Signal(64)
        self.next      = Signal()
        self.release   = Signal()
        self.frames    = Signal(max=max_frames + 1)
        self.held      = Signal()
        self.awake     = Signal()

        # # #

        # Pointers have one bit more than an address: equal is empty.
        write_pointer = Signal(awidth + 1)
        start_pointer = Signal(awidth + 1) # Of the frame being written.
        read_pointer  = Signal(awidth + 1)
        head_pointer  = Signal(awidth + 1) # Of the frame being read.
        used          = Signal(awidth + 1)

        # Write.
        # ------
        full     = Signal()
        overflow = Signal()
        self.comb += [
            used.eq(write_pointer - read_pointer),
            self.space.eq(depth - used),
            full.eq(used == depth),
            self.accepted.eq(self.commit & ~overflow & (self.frames != max_frames)),
        ]
        self.sync += [
            If(self.write,
                If(full | overflow,
                    overflow.eq(1)
                ).Else(
                    write_pointer.eq(write_pointer + 1)
                )
            ),
            If(self.accepted,
                start_pointer.eq(write_pointer)
            ).Elif(self.commit | self.abort,
                write_pointer.eq(start_pointer)
            ),
            If(self.commit | self.abort,
                overflow.eq(self.write & full) # The first word of the next frame.
            ),
        ]

        # Frame records, each with the number of words that the frame takes: in block RAM, whose address runs
        # ahead as that of the words does.
        # ---------------------------------------------------------------------------------------------------
        words    = Signal(awidth + 1) # Of the oldest frame.
        produce  = Signal(max=max_frames)
        consume  = Signal(max=max_frames)
        consume_next = Signal(max=max_frames)
        records  = Memory(len(words) + len(self.param.raw_bits()), max_frames)
        record   = records.get_port(mode=READ_FIRST)
        recorder = records.get_port(write_capable=True, mode=READ_FIRST)
        # ECP5's block RAM does not say what it reads in the clock in which the word is written. The attribute keeps
        # Yosys from building what does: such a record is an empty FIFO's, and is read again before it is `available`.
        records.attr = {("no_rw_check", 1)}
        self.specials += records, record, recorder

        def after(pointer):
            return pointer + 1 if max_frames == 2**len(pointer) else Mux(pointer == max_frames - 1, 0, pointer + 1)

        self.comb += [
            recorder.adr.eq(produce),
            recorder.dat_w.eq(Cat(write_pointer - start_pointer, self.param.raw_bits())),
            recorder.we.eq(self.accepted),
            consume_next.eq(Mux(self.release, after(consume), consume)),
            record.adr.eq(consume_next),
            Cat(words, self.head.raw_bits()).eq(record.dat_r),
            self.held.eq(self.frames != 0),
            self.awake.eq(self.held & ~self.available),
        ]
        self.sync += [
            consume.eq(consume_next),
            If(self.accepted, produce.eq(after(produce))),
            self.frames.eq(self.frames + self.accepted - self.release),
            self.available.eq(self.frames > self.release),
        ]

        # Read: the address runs one clock ahead, so that `word` follows `next` without a bubble.
        # ---------------------------------------------------------------------------------------
        read_pointer_next = Signal(awidth + 1)
        self.comb += [
            read_pointer_next.eq(read_pointer),
            If(self.release,
                read_pointer_next.eq(head_pointer + words)
            ).Elif(self.next,
                read_pointer_next.eq(read_pointer + 1)
            ),
        ]
        self.sync += [
            read_pointer.eq(read_pointer_next),
            If(self.release, head_pointer.eq(read_pointer_next)),
        ]

        # Storage.
        # --------
        storage    = Memory(64, depth)
        write_port = storage.get_port(write_capable=True, mode=READ_FIRST)
        read_port  = storage.get_port(mode=READ_FIRST)
        # As with the records: a word that is read while it is written is in no committed frame, and is read again
        # in each clock until it is in one.
        storage.attr = {("no_rw_check", 1)}
        self.specials += storage, write_port, read_port
        self.comb += [
            write_port.adr.eq(write_pointer[:awidth]),
            write_port.dat_w.eq(self.data),
            write_port.we.eq(self.write & ~full & ~overflow),
            read_port.adr.eq(read_pointer_next[:awidth]),
            self.word.eq(read_port.dat_r),
        ]
