# SPDX-License-Identifier: BSD-2-Clause
"""FIFO of whole frames.

The reader sees a frame only when it is complete and good; a bad one disappears whole. So a slow bus
delays or drops frames, but never corrupts one.
"""

from migen import *

from litex.gen import *

# Frame FIFO ---------------------------------------------------------------------------------------

class FrameFIFO(LiteXModule):
    """Stores frames of 64-bit words with a record of parameters for each frame.

    order       the FIFO holds 2**order bytes.
    param       layout of the per-frame record, [(name, width), ...].
    max_frames  the most frames that it can hold, of any length.

    Write side: `write` stores `data`. After the last word, `commit` (with `param` valid) makes the frame
    visible, and `abort` discards it. A word without room sets `overflow`: then a commit acts as abort, and
    likewise if max_frames are held. `accepted`: a commit would succeed. `commit` and `abort` come at least one
    clock after the last `write`. No back-pressure.

    Read side: `available` and `head` (the record) describe the oldest frame. In an empty FIFO, a frame is
    available one clock after it counts in `frames`. `word` is its next word, and `next` moves on. `release`
    frees the whole frame, even if not all words were read.

    longest  octets of the longest frame that it can hold.
    space    free words; uncommitted words are not free.
    frames   committed frames; `held`: there are any.
    awake    one of them is not `available` yet.
    """
    def __init__(self, order, param, max_frames=64):
        depth  = 2**order//8
        awidth = log2_int(depth)
        self.longest    = 2**order - 8 # A frame may start late in its first word.
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
        start_pointer = Signal(awidth + 1) # Start of the frame being written.
        read_pointer  = Signal(awidth + 1)
        head_pointer  = Signal(awidth + 1) # Start of the frame being read.
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

        # Frame records, each with the number of the frame's words, in block RAM. Their address runs one clock
        # ahead, like that of the words.
        # ---------------------------------------------------------------------------------------------------
        words    = Signal(awidth + 1) # Of the oldest frame.
        produce  = Signal(max=max_frames)
        consume  = Signal(max=max_frames)
        consume_next = Signal(max=max_frames)
        records  = Memory(len(words) + len(self.param.raw_bits()), max_frames)
        record   = records.get_port(mode=READ_FIRST)
        recorder = records.get_port(write_capable=True, mode=READ_FIRST)
        # When ECP5's block RAM reads a word in the clock in which it is written, the result is undefined. The
        # attribute keeps Yosys from adding logic that defines it: this happens only to the record of an empty FIFO,
        # which is read again before it is `available`.
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
        # As with the records: a word that is read while it is written does not belong to a committed frame yet. It
        # is read again in each clock until it does.
        storage.attr = {("no_rw_check", 1)}
        self.specials += storage, write_port, read_port
        self.comb += [
            write_port.adr.eq(write_pointer[:awidth]),
            write_port.dat_w.eq(self.data),
            write_port.we.eq(self.write & ~full & ~overflow),
            read_port.adr.eq(read_pointer_next[:awidth]),
            self.word.eq(read_port.dat_r),
        ]
