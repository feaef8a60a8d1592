# SPDX-License-Identifier: BSD-2-Clause
"""Shapers: no frame starts while its queue's credit is negative. The credit stays within its bounds, and
is the sum of what the queue gained and what its frames cost. A shaper that is off limits nothing."""

from types import SimpleNamespace

from migen import *

from moderato.gateware.options            import MACOptions
from moderato.gateware.schedule.scheduler import Scheduler
from moderato.gateware.schedule.shaper    import Shapers

from formal.environment import all_of
from formal.launch      import Frames
from formal.prover      import internal

FRACTION = 24           # bits of an octet
MOST     = 2**16 - 1    # octets that registers can hold
LONGEST  = 2**14 + 27   # octets that a frame takes on the wire
STARTING = 3            # clocks from a frame's start to its cost: Transmit needs more for any frame


class ShaperProof(Module):
    """Two queues, with any frames, any settings in each clock, and gates that open and close at any
    time."""

    def __init__(self):
        fifos = [Frames(name, MACOptions(queues=2, vlan=True, shaper=True)) for name in ("one", "other")]
        self.submodules += fifos
        windows = [SimpleNamespace(open=Signal(name_override=f"open_{n}"),
            left=Signal(name_override=f"left_{n}")) for n in range(2)] # Of `left`, only the sign.
        gates   = SimpleNamespace(running=Signal(name_override="running"), windows=windows)
        self.submodules.shapers = shapers = Shapers(fifos, gates)
        self.submodules.dut     = dut     = Scheduler(fifos, shapers=shapers)
        inputs = {"may": dut.may, "next": dut.next, "release": dut.release}
        for n, shaper in enumerate(shapers.each):
            inputs |= {f"{name}_{n}": getattr(shaper, name)
                for name in ("on", "idle", "send", "high", "low")}
        for name, signal in inputs.items():
            signal.name_override = name

        # The frame in progress.
        # ----------------------
        busy, whose, start, which = Signal(), Signal(), Signal(), Signal()
        age, age_now = Signal(max=STARTING + 1), Signal(max=STARTING + 1) # Clocks since its start.
        self.comb += [
            start.eq(dut.available & ~busy),
            which.eq(dut.selected),
            age_now.eq(Mux(busy, age, 0)),
        ]
        self.sync += [
            busy.eq(dut.available & ~dut.release),
            whose.eq(which),
            age.eq(Mux(age_now == STARTING, STARTING, age_now + 1)),
        ]
        self.assume = Signal(name_override="assume_all")
        self.comb  += self.assume.eq(all_of(*[rule for fifo in fifos for rule in fifo.rules],
            ~(dut.next | dut.release) | dut.available,
            ~dut.release | dut.head.error | (age_now == STARTING)))
        self.inputs = {gates.running, *inputs.values(),
            *[signal for window in windows for signal in (window.open, window.left)]}.union(
            *[fifo.inputs for fifo in fifos])

        def before(signal):
            """Its value in the clock before."""
            past = Signal(len(signal))
            self.sync += past.eq(signal)
            return past

        def units(octets):
            return Cat(C(0, FRACTION), octets)

        self.promises = {
            "frames_are_whole": ~busy | (dut.available & (which == whose)),
            "lemma_busy": internal(dut, "busy") == busy,
            "lemma_chosen": ~busy | (internal(dut, "chosen") == whose),
            "lemma_age": ~busy | (age != 0),
        }
        self.reachable = {}
        for n, (fifo, shaper, window) in enumerate(zip(fifos, shapers.each, windows)):
            head = fifo.head
            # What the frame costs, two clocks after its start.
            octets, paid, cost = Signal(15), Signal(15), Signal(15)
            ours = start & (which == n)
            self.comb += octets.eq(head.length + Mux(head.tagged, 4, 0))
            self.sync += [
                paid.eq(Mux(ours & ~head.error, Mux(octets < 60, 60, octets) + 24, 0)),
                cost.eq(paid),
            ]
            # Frames on the wire, by the rate of the link.
            left, rest, leaves = Signal(41), Signal((43, True)), Signal()
            rate, flow = Signal(27), Signal((43, True))
            self.comb += [
                flow.eq(units(cost) - rate),
                rest.eq(left + flow),
            ]
            self.sync += [
                rate.eq(shaper.idle + shaper.send),
                left.eq(Mux(shaper.on & (rest >= 0), rest, 0)),
                leaves.eq(shaper.on & ((cost != 0) | (leaves & (rest >= 0)))),
            ]
            # The credit, by what was so a clock ago.
            credit, gain, after = Signal((42, True)), Signal((42, True)), Signal((43, True))
            most, least, both = Signal((42, True)), Signal((42, True)), Signal((44, True))
            above = Signal((43, True)) # The credit, above that of a queue that owes the longest frame.
            needs, idle, low = Signal(reset=1), Signal(26), Signal(16)
            self.comb += [
                gain.eq(idle - units(cost)),
                after.eq(credit + gain),
                most.eq(units(shaper.high)),
                least.eq(-units(low)),
                both.eq(credit + left),
                above.eq(credit + (LONGEST << FRACTION)),
            ]
            self.sync += [
                needs.eq(fifo.available | leaves),
                idle.eq(Mux((~gates.running | (window.open & ~window.left)) &
                    (fifo.available | leaves | (credit < 0)), shaper.idle, 0)),
                low.eq(shaper.low),
                credit.eq(after),
                If(after > most, credit.eq(most)),
                If((after < least) & ~leaves & (cost == 0), credit.eq(least)),
                If((after > 0) & ~needs, credit.eq(0)),
                If(~shaper.on, credit.eq(0)),
            ]
            on, high_before, low_before = before(shaper.on), Signal((42, True)), Signal((42, True))
            self.sync += high_before.eq(most), low_before.eq(least)
            self.promises |= {
                f"starts_only_with_credit_{n}": ~ours | head.error | (credit >= 0),
                f"has_no_limit_while_off_{n}": on | ((credit == 0) & shaper.may),
                f"what_has_credit_starts_{n}": busy | ~dut.may | ~fifo.available | start |
                    (~head.error & (credit < 0)),
                f"stays_below_high_{n}": (credit <= 0) | (credit <= high_before),
                f"stays_above_low_{n}": (credit >= 0) | before(leaves) | (before(cost) != 0) |
                    (credit >= low_before),
                f"owes_one_frame_at_most_{n}": above >= 0,
                f"an_idle_queue_has_no_credit_{n}": before(needs) | (credit <= 0),
                f"lemma_credit_{n}": shaper.credit == credit,
                f"lemma_left_{n}": internal(shaper, "left") == left,
                f"lemma_sending_{n}": internal(shaper, "sending") == leaves,
                f"lemma_gain_{n}": internal(shaper, "gain") == gain,
                f"lemma_flow_{n}": internal(shaper, "flow") == flow,
                f"lemma_follows_{n}": internal(shaper, "follows") == (cost != 0),
                f"lemma_rests_{n}": internal(shaper, "rests") == ~needs,
                f"lemma_lowest_{n}": units(internal(shaper, "lowest")) == least[:41],
                f"lemma_taken_{n}": internal(shaper, "taken") == (paid != 0),
                f"lemma_octets_{n}": (paid == 0) | (internal(shaper, "octets") == paid),
                # What has started and not left is no more than the credit was, and a frame.
                f"lemma_bound_{n}": (left == 0) | (both <= (MOST << FRACTION)),
                f"lemma_rate_{n}": idle <= rate,
                f"lemma_leaves_{n}": leaves | (left == 0),
                f"lemma_high_{n}": credit <= (MOST << FRACTION),
                # A frame costs before Transmit can end it.
                f"lemma_paid_{n}": (paid == 0) | (busy & (whose == n) & (age == 1)),
                f"lemma_cost_{n}": (cost == 0) | (busy & (whose == n) & (age == 2)),
                f"lemma_good_{n}": ((paid == 0) & (cost == 0)) | ~head.error,
                f"lemma_range_{n}": (paid <= LONGEST) & (cost <= LONGEST),
                f"lemma_debt_{n}": ((paid == 0) & (cost == 0)) | (credit >= 0),
                f"lemma_in_progress_{n}": ~(busy & (whose == n)) | fifo.stays,
            }
            self.reachable |= {
                f"starts_{n}": ours & ~head.error & on,
                f"waits_for_credit_{n}": fifo.available & ~head.error & dut.may & ~dut.available,
                f"reaches_high_{n}": (credit != 0) & (credit == most),
                f"bad_frame_passes_{n}": ours & head.error & (credit < 0),
                f"pays_{n}": (credit < 0) & ~leaves & fifo.available & on,
            }
