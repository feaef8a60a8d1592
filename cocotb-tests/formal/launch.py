# SPDX-License-Identifier: BSD-2-Clause
"""Frames with a launch time: none leaves early, none waits for longer than its time, and a held frame
blocks another queue's only for the guard. Each late or dropped frame is counted once."""

from types import SimpleNamespace

from migen import *

from moderato.gateware.frame.records      import tx_frame
from moderato.gateware.options            import MACOptions
from moderato.gateware.schedule.launch    import LAUNCH_BITS, Launches
from moderato.gateware.schedule.scheduler import Scheduler

from formal.environment import all_of
from formal.prover      import internal

# Those of GMII at 100 MHz.
LIMITS = SimpleNamespace(grace=16, backlog=104, overhead=35, ahead=180, gated=False)


class Frames(Module):
    """Replaces a Tx FIFO: an available frame and its record stay until it is released."""
    def __init__(self, prefix, options=MACOptions(timestamp=True, queues=2, launch=True)):
        self.available = Signal(name_override=f"{prefix}_available")
        self.head      = Record(tx_frame(options))
        self.word      = Signal(64, name_override=f"{prefix}_word")
        self.next      = Signal()
        self.release   = Signal()
        for name, _ in self.head.layout:
            getattr(self.head, name).name_override = f"{prefix}_{name}"

        stays, head = Signal(), Signal(len(self.head.raw_bits()))
        self.sync += stays.eq(self.available & ~self.release), head.eq(self.head.raw_bits())
        self.stays  = stays # Since the clock before.
        self.rules  = [~stays | (self.available & (head == self.head.raw_bits()))]
        self.inputs = {self.available, self.word, *self.head.flatten()}


class Scheduling(Module):
    """The scheduler of two queues, with any clock, and a transmitter that ends frames at any time.

    gates  the Gates of the queues, or None.
    """
    def __init__(self, gates=None):
        self.fifos = fifos = [Frames(name) for name in ("one", "other")]
        self.submodules += fifos
        self.time = time = Signal(64, name_override="time")
        self.submodules.launches = launches = Launches(fifos, SimpleNamespace(time=time), LIMITS)
        self.submodules.dut      = dut      = Scheduler(fifos, launches, gates=gates)
        inputs = {"may": dut.may, "free": dut.free, "enables": dut.enables, "next": dut.next,
            "release": dut.release, "ahead": launches.now.ahead, "octet": launches.octet}
        for name, signal in inputs.items():
            signal.name_override = name
        self.comb  += launches.free.eq(dut.free)
        self.assume = Signal(name_override="assume_all")
        self.comb  += self.assume.eq(all_of(*[rule for fifo in fifos for rule in fifo.rules],
            ~(dut.next | dut.release) | dut.available))
        self.inputs = {time, *inputs.values()}.union(*[fifo.inputs for fifo in fifos])


class LaunchProof(Scheduling):
    """Frames with and without launch times."""

    def __init__(self):
        Scheduling.__init__(self)
        fifos, time, launches, dut = self.fifos, self.time, self.launches, self.dut

        # The frame in progress.
        # ----------------------
        busy, whose, start, which = Signal(), Signal(), Signal(), Signal()
        self.comb += [
            start.eq(dut.available & ~busy),
            which.eq(dut.selected),
        ]
        self.sync += busy.eq(dut.available & ~dut.release), whose.eq(which)

        # In each of the preceding clocks: the time at which a frame that starts then would leave.
        # --------------------------------------------------------------------------
        ahead, leaves = Signal(17), [Signal(LAUNCH_BITS) for _ in range(3)]
        self.sync += [
            ahead.eq(launches.now.ahead + LIMITS.ahead),
            leaves[0].eq(time[:LAUNCH_BITS] + ahead),
            leaves[1].eq(leaves[0]),
            leaves[2].eq(leaves[1]),
        ]

        # What is known of the oldest frames.
        # -----------------------------------
        frames = []
        for fifo, launch in zip(fifos, launches.each):
            head, since = fifo.head, Signal(2) # Clocks in which it was available, before this one.
            age = Signal(2)
            self.comb += age.eq(Mux(fifo.stays, since, 0))
            self.sync += since.eq(Mux(age == 2, 2, age + 1))
            left, left_before = Signal(LAUNCH_BITS), Signal(LAUNCH_BITS)
            cost_before = Signal(26)
            octets = Signal(15)
            self.comb += [
                left.eq(head.time - Mux(head.offset[:2] == 0, leaves[2], leaves[1])),
                octets.eq(Mux(head.length < 60, 60, head.length) + LIMITS.overhead +
                    Mux(dut.free, 0, LIMITS.backlog)),
            ]
            self.sync += left_before.eq(left), cost_before.eq(launch.cost)
            frames.append(SimpleNamespace(fifo=fifo, head=head, launch=launch, age=age, left=left,
                left_before=left_before, cost_before=cost_before, octets=octets,
                timed=fifo.available & head.launch & ~head.error, over=left[-1],
                lost=left[-1] & (left < 2**LAUNCH_BITS - LIMITS.grace), known=age == 2))
        self.promises  = {}
        self.reachable = {"both_wait": frames[0].timed & frames[1].timed & ~dut.available &
            frames[0].known & frames[1].known}
        counts = []
        for n, (frame, other) in enumerate((frames, frames[::-1])):
            head, ours = frame.head, start & (which == n)
            held  = other.timed & ~(other.known & other.lost) # By its time.
            fits  = other.known & frame.known & ~other.left_before[-1] & (
                other.left_before >= frame.cost_before)
            drops = dut.drops[n]
            stuck = other.timed & other.known & other.head.stamp & Mux(other.over,
                other.lost & other.head.drop, ~dut.enables[1 - n]) # It is dropped when the wire is free.
            own   = frame.timed & ~(frame.known & frame.lost)
            ends  = frame.timed & frame.known & Mux(frame.over, frame.lost & head.drop, ~dut.enables[n])
            counts.append(ours & frame.timed & frame.known & frame.lost)
            self.promises |= {
                f"nothing_leaves_early_{n}": ~(ours & frame.timed) | (frame.known & frame.over),
                f"punctual_frames_find_the_wire_free_{n}": ~(ours & own) | dut.free,
                f"guards_the_other_{n}": ~(ours & ~own & held) | fits,
                # Beyond the guard, a held frame blocks nothing.
                f"what_fits_starts_{n}": busy | ~dut.may | ~frame.fifo.available | own | ends | stuck |
                    (held & ~fits) | start,
                f"starts_at_its_time_{n}": busy | ~dut.may | ~dut.free | start |
                    ~(own & frame.known & frame.over),
                f"drops_only_what_must_be_{n}": ~drops | (ends & ~(busy & (whose == n)) & ~ours),
                f"drops_at_once_{n}": ~ends | (busy & (whose == n)) | drops |
                    (head.stamp & (busy | ~dut.free)),
                f"a_lost_stamp_follows_the_others_{n}": dut.lost[n] == (drops & head.stamp),
                f"stamps_wait_for_the_wire_{n}": ~dut.lost[n] | (dut.free & ~busy),
                f"cost_has_all_octets_{n}": internal(frame.launch, "octets") == frame.octets,
                f"ends_one_frame_{n}": frame.fifo.release == (drops | (dut.release & (which == n))),
                # Lemmas for the induction.
                f"lemma_age_{n}": (internal(frame.launch, "age") == frame.age) & (frame.age != 3),
                f"lemma_in_progress_{n}": ~(busy & (whose == n)) | frame.fifo.stays,
                f"lemma_left_{n}": (frame.age == 0) | (frame.launch.left == frame.left),
                f"lemma_fits_{n}": ~(frame.known & other.known) | (launches.fits[n][1 - n] == fits),
            }
            self.reachable |= {
                f"starts_on_time_{n}": ours & own,
                f"starts_late_{n}": ours & frame.timed & ~own,
                f"drops_{n}": drops & dut.enables[n],
                f"flushes_{n}": drops & ~dut.enables[n],
                f"passes_held_{n}": ours & held,
                f"waits_for_held_{n}": frame.fifo.available & ~frame.timed & held & dut.may &
                    ~dut.available,
            }
        self.promises |= {
            "frames_are_whole": ~busy | (dut.available & (which == whose)),
            "starts_only_if_it_may": ~start | dut.may,
            "takes_what_is_there": ~start | Mux(which, fifos[1].available, fifos[0].available),
            "late_ones_are_counted": dut.late == (counts[0] | counts[1]),
            "lemma_busy": internal(dut, "busy") == busy,
            "lemma_chosen": ~busy | (internal(dut, "chosen") == whose),
            "lemma_clock": (launches.now.early == leaves[0]) & (launches.now.time == leaves[1]),
        }
