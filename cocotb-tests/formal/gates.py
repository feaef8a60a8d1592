# SPDX-License-Identifier: BSD-2-Clause
"""Gates: no frame starts through a closed gate, or if it leaves after its gate closes. A list is taken
over as a whole, not before its base time, and is not written while it is obeyed or waits."""

from types import SimpleNamespace

from migen import *

from moderato.gateware.schedule.gates import Gates

from formal.launch import Scheduling
from formal.prover import internal

LEAD  = 120 # ns, as at 100 MHz
ORDER = 1


class GatesProof(Module):
    """Two queues, with any clock, any frames and any commands."""

    def __init__(self):
        now    = SimpleNamespace(sooner=Signal(64), early=Signal(64))
        clock  = SimpleNamespace(time=Signal(64), set=Signal(), step=Signal())
        each   = [SimpleNamespace(cost=Signal(26, name_override=f"cost_{n}")) for n in range(2)]
        octet  = Signal(10)
        self.submodules.dut = dut = Gates(SimpleNamespace(now=now, octet=octet, each=each), clock,
            SimpleNamespace(lead=LEAD), ORDER)
        settings = ("start", "stop", "cancel", "base", "cycle", "extension", "length", "write", "entry",
            "seek", "index")
        inputs = {f"in_{name}": getattr(dut, name) for name in settings} | {"octet": octet,
            "sooner": now.sooner, "early": now.early, "clock_set": clock.set, "clock_step": clock.step}
        for name, signal in inputs.items():
            signal.name_override = name
        self.assume = Signal(name_override="assume_all")
        self.comb  += self.assume.eq(1)
        self.inputs = {*inputs.values(), *[launch.cost for launch in each]}

        def before(signal):
            """Its value in the clock before."""
            past = Signal(len(signal))
            self.sync += past.eq(signal)
            return past

        bank, base, cycle, extension, last, near, takeover, ahead = [internal(dut, name)
            for name in ("bank", "base", "cycle", "extension", "last", "near", "takeover", "ahead")]
        the_cycle, the_last, the_extension = [internal(dut, name)
            for name in ("the_cycle", "the_last", "the_extension")]
        obeyed  = Cat(bank, the_cycle, the_last, the_extension)
        admin   = Cat(base, cycle, extension, last)
        started, stopped = before(dut.start & ~dut.pending), before(dut.stop)
        taken, waited = before(takeover), before(dut.pending)
        change, past_near, past_bank = internal(dut, "change"), before(near), before(bank)
        past_base, past_change, past_ahead = before(base), before(change), before(ahead)
        armed, past_early = before(internal(dut, "armed")), before(now.early)
        self.promises = {
            # A takeover is one event, at its time.
            "takes_all_or_nothing": obeyed == Mux(taken, Cat(~past_bank, before(cycle), before(last),
                before(extension)), before(obeyed)),
            "takes_over_at_its_time": ~taken | (waited & armed & (past_ahead[-1] | (past_ahead < LEAD))),
            "a_list_is_pending_until_then": ~waited | dut.pending | taken | stopped | before(dut.cancel),
            "is_obeyed_from_then_on": dut.running == (~stopped & (taken | before(dut.running))),
            # The list that waits has the parameters of START; only whole cycles are added to its base.
            "start_copies_all": ~started | (admin == Cat(before(dut.base), before(dut.cycle),
                before(dut.extension), before((dut.length - 1)[:ORDER]))),
            "then_they_stay": started | (Cat(cycle, extension, last) == before(Cat(cycle, extension,
                last))),
            "base_moves_by_cycles": started | (base == past_base) | (waited & ~armed &
                (base == past_base + before(cycle))),
            "lemma_armed": ~internal(dut, "armed") | dut.pending,
            "lemma_change": change == (past_base[:32] - past_early[:32])[:32],
        }
        fresh = Signal() # A clock has passed since the reset.
        self.sync += fresh.eq(1)
        self.reachable = {
            "takes_over": taken,
            "replaces_a_list": taken & before(dut.running),
            "moves_its_base": waited & (base != past_base) & ~started,
        }
        for n, (window, launch) in enumerate(zip(dut.windows, each)):
            cost, left, opened = before(launch.cost), before(window.left), before(window.open)
            closed  = ~before(window.open) & window.open
            opens   = internal(window, "opens")
            until   = before(window.until)
            waiting = before(window.fsm.ongoing("WAIT"))
            come    = before(internal(window, "come"))
            self.promises |= {
                f"fits_only_in_its_window_{n}": ~dut.fits[n] | ~before(dut.running) |
                    (opened & ~left[-1] & (left >= cost)),
                f"fits_only_before_a_takeover_{n}": ~dut.fits[n] | ~past_near |
                    (~past_change[-1] & (past_change >= cost)),
                f"open_gates_let_frames_pass_{n}": dut.fits[n] | before(dut.running) | past_near |
                    ~fresh,
                f"opens_only_by_an_entry_at_its_time_{n}": ~closed | (waiting & come & before(opens)),
                f"knows_the_time_that_is_left_{n}": window.left == (until - past_early[:32])[:32],
                f"begins_a_list_closed_{n}": ~taken | (~window.open & (window.index == 0) &
                    (window.until == past_base[:32]) & window.fsm.ongoing("FETCH")),
                f"lemma_come_{n}": internal(window, "come") == before(internal(window, "since"))[-1],
            }
            self.reachable |= {f"opens_{n}": closed, f"fits_{n}": dut.fits[n] & before(dut.running)}


class GatedSchedulerProof(Scheduling):
    """The scheduler, with gates that open and close at any time."""

    def __init__(self):
        gates = SimpleNamespace(fits=Signal(2, name_override="fits"))
        Scheduling.__init__(self, gates)
        self.inputs.add(gates.fits)
        fifos, launches, dut = self.fifos, self.launches, self.dut

        busy, whose, start, which = Signal(), Signal(), Signal(), Signal()
        self.comb += [
            start.eq(dut.available & ~busy),
            which.eq(dut.selected),
        ]
        self.sync += busy.eq(dut.available & ~dut.release), whose.eq(which)
        self.promises = {
            "frames_are_whole": ~busy | (dut.available & (which == whose)),
            "lemma_busy": internal(dut, "busy") == busy,
            "lemma_chosen": ~busy | (internal(dut, "chosen") == whose),
        }
        self.reachable = {}
        for n, (fifo, launch) in enumerate(zip(fifos, launches.each)):
            ours, head = start & (which == n), fifo.head
            late = head.launch & launch.due & launch.late & head.drop
            held = head.launch & ~launch.due
            self.promises |= {
                f"starts_only_through_an_open_gate_{n}": ~ours | head.error | (launch.known &
                    gates.fits[n]),
                # A closed gate drops no frame of a ring that goes on.
                f"drops_only_late_or_stopped_{n}": ~dut.drops[n] | ~dut.enables[n] | late,
                f"nothing_stays_of_a_stopped_ring_{n}": busy | ~dut.free | ~fifo.available |
                    ~launch.known |
                    head.error | dut.enables[n] | gates.fits[n] | dut.drops[n],
                f"lemma_in_progress_{n}": ~(busy & (whose == n)) | fifo.stays,
            }
            self.reachable |= {
                f"starts_{n}": ours & ~head.error,
                f"waits_for_its_gate_{n}": fifo.available & launch.known & ~head.launch & ~busy &
                    dut.may &
                    dut.free & ~dut.available,
                f"drops_what_waits_{n}": dut.drops[n] & ~head.launch,
                f"held_at_a_closed_gate_{n}": held & ~gates.fits[n] & fifo.available & launch.known,
            }
