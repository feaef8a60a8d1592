# SPDX-License-Identifier: BSD-2-Clause
"""Pause never deadlocks: each pause ends, and frames that request or end one are not paused."""

from migen import *

from moderato.gateware.frame.pause        import PauseTimer
from moderato.gateware.transmit.pause_source import PATIENCE, PauseSource
from moderato.gateware.options      import MACOptions
from moderato.gateware.frame.records      import tx_frame

from formal.environment import all_of, asleep_nothing_changes
from formal.prover      import internal


class Frames(Module):
    """Replaces the Tx frame FIFO: an available frame remains so until it is released."""
    def __init__(self):
        self.available = Signal()
        self.head      = Record(tx_frame(MACOptions()))
        self.word      = Signal(64)
        self.next      = Signal()
        self.release   = Signal()

        stays = Signal()
        self.sync += stays.eq(self.available & ~self.release)
        self.rules  = [~stays | self.available]
        self.inputs = {self.available, self.word, *self.head.flatten()}


class PauseSourceProof(Module):
    """The source between a FIFO and a transmitter that takes available frames, and ends them at any
    time."""

    def __init__(self):
        self.submodules.frames = frames = Frames()
        self.submodules.dut    = dut    = PauseSource(frames)
        settings = ("hold", "enable", "full", "roomy", "quanta", "quantum", "station", "next", "release")
        for name in settings:
            getattr(dut, name).name_override = name
        self.assume = Signal(name_override="assume_all")
        self.comb += self.assume.eq(all_of(
            *frames.rules,
            ~(dut.next | dut.release) | dut.available))

        # The expected requests, independent of the device.
        # -------------------------------------------------
        stop   = Signal()
        asked  = Signal(max=PATIENCE + 2) # Pause frames since the other end should pause.
        wanted = (stop != dut.stopped) | (stop & ~dut.timer.running & (asked != PATIENCE))
        quanta = internal(dut, "quanta", but=dut.quanta)
        clocks = internal(dut.timer, "clocks")

        # The frame in progress, independent of the device.
        # -------------------------------------------------
        under_way = Signal()
        own       = Signal()
        begins    = Signal()
        self.comb += begins.eq(dut.available & ~under_way)
        self.sync += [
            under_way.eq(dut.available & ~dut.release),
            own.eq(dut.own),
        ]
        stopped_before = Signal()
        began, stop_before = Signal(), Signal()
        self.sync += [
            If(~dut.enable, stop.eq(0)).Elif(dut.full, stop.eq(1)).Elif(dut.roomy, stop.eq(0)),
            If(~stop, asked.eq(0)).Elif(begins & dut.own, asked.eq(asked + 1)),
            stopped_before.eq(dut.stopped),
            stop_before.eq(stop),
            began.eq(begins & dut.own),
        ]

        self.promises = {
            "nothing_begins_while_held": ~(begins & dut.hold) | dut.own,
            "frames_are_whole": ~under_way | (dut.available & (dut.own == own)),
            "ends_what_it_began": frames.release == (dut.release & ~dut.own),
            # Paused or not, and with any waiting frames.
            "tells_at_once": under_way | (stop == dut.stopped) | (begins & dut.own),
            "asks_again": under_way | ~stop | dut.timer.running | (asked == PATIENCE) | (
                begins & dut.own),
            "tells_what_it_wants": ~began | (dut.stopped == stop_before),
            "go_is_a_pause_of_0": dut.stopped | (quanta == 0),
            "frames_go_unless_held": under_way | wanted | dut.hold | (begins == frames.available),
            # In a row, without a resume request to the other end.
            "gives_up": (asked <= PATIENCE) &
                (~(begins & dut.own & stop & dut.stopped) | (asked != PATIENCE)),
            "never_asks_unasked": ~(began & ~stop_before) | stopped_before,
            "asleep_nothing_changes": asleep_nothing_changes(self, dut.awake | dut.available,
                [under_way, dut.stopped, quanta, dut.timer.left, clocks, stop, asked]),
            # Lemmas for the induction.
            "lemma_under_way": internal(dut, "busy") == under_way,
            "lemma_own": ~under_way | (internal(dut, "ours") == own),
            "lemma_asked": (internal(dut, "asked") == asked) & (dut.stopped | (asked == 0)),
            "lemma_stop": internal(dut, "stop") == stop,
        }
        self.reachable = {
            "stopped": dut.stopped & ~under_way,
            "frame_after_pause": frames.release & dut.stopped,
            "asks_again": (asked == 2),
            "go": ~dut.stopped & stopped_before,
            "held": dut.hold & frames.available & ~dut.available,
            "asleep": ~dut.awake & ~dut.available,
        }
        self.inputs = {getattr(dut, name) for name in settings} | frames.inputs


class PauseTimerProof(Module):
    """Each clock of a pause brings its end nearer: after `quanta` times `quantum` clocks the pause
    is over."""

    def __init__(self):
        self.submodules.dut = dut = PauseTimer()
        settings = ("enable", "quantum", "start", "quanta")
        for name in settings:
            getattr(dut, name).name_override = name
        clocks = internal(dut, "clocks")
        self.assume = Signal(name_override="assume_all")
        self.comb += self.assume.eq(1)

        left_before, clocks_before = Signal(16), Signal(16)
        before = {name: Signal(len(getattr(dut, name))) for name in settings}
        self.sync += [
            left_before.eq(dut.left),
            clocks_before.eq(clocks),
            [before[name].eq(getattr(dut, name)) for name in settings],
        ]
        alone = before["enable"] & ~before["start"]
        self.promises = {
            "comes_nearer": ~(alone & (left_before != 0)) |
                Mux(clocks_before > 1, (dut.left == left_before) & (clocks == clocks_before - 1),
                    (dut.left == left_before - 1) & (clocks == before["quantum"])),
            "stays_over": ~(alone & (left_before == 0)) | ~dut.running,
            "starts": ~(before["enable"] & before["start"]) |
                ((dut.left == before["quanta"]) & (clocks == before["quantum"])),
            "software_ends_it": before["enable"] | ~dut.running,
            "runs_while_some_are_left": dut.running == (dut.left != 0),
        }
        self.reachable = {
            "over": (left_before == 1) & (dut.left == 0) & before["enable"],
            "next_quantum": (left_before == 3) & (dut.left == 2) & (clocks == 4),
        }
        self.inputs = {getattr(dut, name) for name in settings}
