# SPDX-License-Identifier: BSD-2-Clause
"""Interrupt moderation: every clock of every test is compared with the golden model."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge

from bench.models.moderation_model import MODULO, Inputs, ModerationModel

DUT = "moderation"
CAUSES = {0b00000: None, 0b00001: "request", 0b00010: "frames", 0b00100: "absolute",
          0b01000: "packet", 0b10000: "halt"}


class Bench:
    """Device and model side by side; `interrupts` lists (clock, cause)."""

    def __init__(self, dut):
        self.dut = dut
        self.model = ModerationModel()
        self.inputs = Inputs()
        self.interrupts = []

    @classmethod
    async def start(cls, dut, **settings):
        bench = cls(dut)
        Clock(dut.sys_clk, 10, unit="ns").start()
        dut.sys_rst.value = 1
        for name, value in vars(bench.inputs).items():
            getattr(dut, name).value = value
        await RisingEdge(dut.sys_clk)
        await RisingEdge(dut.sys_clk)
        dut.sys_rst.value = 0
        bench._drive(**settings)
        return bench

    @property
    def now(self):
        return self.model.now

    @property
    def causes(self):
        return [cause for _, cause in self.interrupts]

    def _drive(self, **inputs):
        for name, value in inputs.items():
            if value != getattr(self.inputs, name):
                setattr(self.inputs, name, value)
                getattr(self.dut, name).value = value

    async def clock(self, **pulses):
        """One clock with these inputs; pulses end with it, settings stay."""
        self._drive(**pulses)
        await RisingEdge(self.dut.sys_clk)
        self._compare()
        self.model.step(self.inputs)
        self._drive(completion=0, request=0, silent=0, rearm=0, disarm=0, clear=0)

    def _compare(self):
        word = int(self.dut.outputs.value)
        cause = CAUSES.get(word >> 3 & 0x1F, "several causes")
        assert bool(word & 4) == bool(cause), f"clock {self.now}: raised without one cause"
        got = {"line": bool(word & 1), "armed": bool(word & 2), "cause": cause,
               "completed": word >> 8 & 0xFFFF, "unreported": word >> 24}
        expected = self.model.outputs(self.inputs)
        assert got == expected, f"clock {self.now}: {got}, not {expected}, inputs {self.inputs}"
        if cause:
            self.interrupts.append((self.now, cause))

    async def clocks(self, count):
        for _ in range(count):
            await self.clock()

    async def complete(self, count=1, every=1, **flags):
        for _ in range(count):
            await self.clock(completion=1, **flags)
            await self.clocks(every - 1)

    async def rearm(self, index=None):
        await self.clock(rearm=1, rearm_index=self.model.completed if index is None else index)


# Each condition alone -----------------------------------------------------------------------------

@cocotb.test()
async def all_off_never_raises(dut):
    bench = await Bench.start(dut)
    await bench.rearm()
    await bench.complete(100, every=3)
    await bench.clocks(200)
    assert not bench.interrupts and bench.model.unreported == 100


@cocotb.test()
async def frames_raises_at_the_nth(dut):
    for frames in (1, 2, 7, 128):
        bench = await Bench.start(dut, frames=frames)
        await bench.rearm()
        await bench.complete(frames - 1, every=2)
        await bench.clocks(50)
        assert not bench.interrupts
        await bench.complete()
        await bench.clocks(3)
        assert bench.causes == ["frames"]


@cocotb.test()
async def packet_timer_counts_from_the_latest(dut):
    bench = await Bench.start(dut, packet_timer=20)
    await bench.rearm()
    await bench.complete(10, every=20)  # never quiet for longer than 19 clocks
    latest = bench.now - 20
    await bench.clocks(40)
    assert bench.interrupts == [(latest + 21, "packet")]


@cocotb.test()
async def absolute_timer_counts_from_the_first(dut):
    bench = await Bench.start(dut, absolute_timer=50)
    await bench.rearm()
    await bench.clocks(100)
    first = bench.now
    await bench.complete(30, every=3)
    assert bench.interrupts == [(first + 51, "absolute")]


@cocotb.test()
async def request_raises_at_once(dut):
    bench = await Bench.start(dut)
    await bench.rearm()
    await bench.complete(5)
    now = bench.now
    await bench.complete(request=1)
    await bench.clocks(5)
    assert bench.interrupts == [(now + 1, "request")]


@cocotb.test()
async def silent_completions_raise_nothing(dut):
    bench = await Bench.start(dut, frames=1, packet_timer=5, absolute_timer=5)
    await bench.rearm()
    await bench.complete(20, every=4, silent=1)
    await bench.clocks(50)
    assert not bench.interrupts
    await bench.complete()
    await bench.clocks(3)
    assert bench.causes == ["frames"]


# One-shot, gap, masking ---------------------------------------------------------------------------

@cocotb.test()
async def one_shot_until_rearm(dut):
    bench = await Bench.start(dut, frames=1)
    await bench.complete(3)
    assert not bench.interrupts, "not armed after reset"
    await bench.rearm()
    await bench.complete(3)
    await bench.complete(20, request=1)
    assert len(bench.interrupts) == 1 and bench.model.line
    await bench.clock(disarm=1)
    await bench.complete(5)
    assert len(bench.interrupts) == 1 and not bench.model.line
    await bench.rearm()
    await bench.complete()
    await bench.clocks(2)
    assert len(bench.interrupts) == 2


@cocotb.test()
async def gap_separates_interrupts(dut):
    bench = await Bench.start(dut, frames=1, gap=30)
    await bench.rearm()
    for _ in range(200):
        await bench.complete()
        if bench.model.line:
            await bench.rearm()
    times = [time for time, _ in bench.interrupts]
    assert len(times) > 5 and all(later - earlier == 31 for earlier, later in zip(times, times[1:]))


@cocotb.test()
async def gap_delays_requests(dut):
    bench = await Bench.start(dut, gap=30)
    await bench.rearm()
    await bench.complete(request=1)
    await bench.clocks(2)
    await bench.rearm()
    await bench.complete(request=1)
    await bench.clocks(60)
    (first, _), (second, cause) = bench.interrupts
    assert second - first == 31 and cause == "request"


# Re-arming ----------------------------------------------------------------------------------------

CONDITIONS = {"frames": 1}, {"packet_timer": 10}, {"absolute_timer": 10}


@cocotb.test()
async def rearm_counts_unseen_completions(dut):
    for condition in CONDITIONS:
        bench = await Bench.start(dut, **condition)
        await bench.complete(9)
        await bench.rearm(6)
        assert bench.model.unreported == 3
        await bench.clocks(20)
        assert len(bench.interrupts) == 1, condition


@cocotb.test()
async def completion_races_with_rearm(dut):
    """A completion one clock before, with, and one clock after the re-arm is never lost."""
    for condition in CONDITIONS:
        for offset in (-2, -1, 0, 1, 2):
            for request in (0, 1):
                bench = await Bench.start(dut, **condition)
                await bench.complete(4)
                for clock in range(-3, 4):
                    await bench.clock(completion=int(clock == offset), request=request,
                        rearm=int(clock == 0), rearm_index=4)
                await bench.clocks(20)
                assert len(bench.interrupts) == 1, (condition, offset, request)
                assert not request or bench.causes == ["request"]


@cocotb.test()
async def rearm_discards_seen_requests(dut):
    bench = await Bench.start(dut)
    await bench.complete(2)
    await bench.complete(request=1)  # index 2
    await bench.complete(3)
    await bench.rearm(3)
    await bench.clocks(20)
    assert not bench.interrupts
    await bench.clock(disarm=1)
    await bench.complete(request=1)  # index 6
    await bench.rearm(6)
    await bench.clocks(3)
    assert bench.causes == ["request"], "the request at the index itself was not seen"


@cocotb.test()
async def index_wraps(dut):
    """Re-arms and requests on both sides of 2**16."""
    bench = await Bench.start(dut)
    await bench.complete(MODULO - 5)
    await bench.clock(frames=1)
    for lag in (0, 1, 0, 3, 2, 5, 0):
        await bench.complete(2, request=lag & 1)
        index = (bench.model.completed - lag) % MODULO
        before = len(bench.interrupts)
        await bench.rearm(index)
        assert bench.model.unreported == lag
        await bench.clocks(3)
        assert len(bench.interrupts) == before + (lag > 0), lag
    assert bench.model.completed == 9


# Re-arming by a driver that is ahead --------------------------------------------------------------

@cocotb.test()
async def driver_ahead_of_the_completion(dut):
    """Memory shows a status some clocks before its completion: that one raises no further
    interrupt."""
    for condition in CONDITIONS:
        for offset in range(6):  # 0: in the clock of the re-arm
            for flags in ({}, {"request": 1}, {"silent": 1}):
                bench = await Bench.start(dut, **condition)
                await bench.complete(4)
                for clock in range(8):
                    await bench.clock(completion=int(clock == offset), rearm=int(clock == 0),
                        rearm_index=5, **flags)
                await bench.clocks(30)
                assert not bench.interrupts and not bench.model.unreported, (condition, offset)
                await bench.complete()  # the next one counts
                await bench.clocks(20)
                assert len(bench.interrupts) == 1, (condition, offset, flags)


@cocotb.test()
async def driver_ahead_by_many(dut):
    """Exactly as many completions as the driver is ahead do not count, at any rate."""
    for ahead in (1, 2, 7, 14, 15):
        for every in (1, 4):
            for early in (0, 1):  # completions in the clock of the re-arm
                bench = await Bench.start(dut, frames=2)
                await bench.clock(rearm=1, rearm_index=ahead, completion=early, request=early)
                await bench.complete(ahead - early, every=every, request=1)
                await bench.complete(1, every=every)
                await bench.clocks(20)
                assert not bench.interrupts and bench.model.unreported == 1
                await bench.complete()
                await bench.clocks(2)
                assert bench.causes == ["frames"] and bench.model.unreported == 2
                await bench.complete(request=1)
                await bench.rearm(ahead + 2)
                await bench.clocks(2)
                assert bench.causes == ["frames", "request"], "a request after them"


@cocotb.test()
async def driver_ahead_again(dut):
    """Each re-arm recounts the completions that the driver has seen, whether it is still ahead or
    not."""
    bench = await Bench.start(dut, frames=1)
    await bench.rearm(2)
    await bench.complete()
    await bench.rearm(4)                # 1 completed: 3 pending
    await bench.complete(3, every=2)
    assert not bench.interrupts
    await bench.complete()
    await bench.clocks(2)
    assert bench.causes == ["frames"]
    await bench.rearm(6)                # 5 completed: 1 pending
    await bench.clock(disarm=1)
    await bench.complete(2)
    await bench.clock(rearm=1, rearm_index=7, completion=1, request=1)
    await bench.clocks(2)
    assert bench.causes == ["frames", "request"], "index 7 was not seen"
    await bench.rearm(10)
    await bench.rearm(9)                # against the rules: the latest re-arm counts
    await bench.complete(2)
    await bench.clocks(2)
    assert bench.causes == ["frames", "request", "frames"]


@cocotb.test()
async def driver_ahead_forgets_older_requests(dut):
    bench = await Bench.start(dut)
    await bench.complete(3, request=1)
    await bench.rearm(4)
    await bench.clocks(20)
    await bench.complete(request=1)  # index 3
    await bench.clocks(20)
    assert not bench.interrupts
    await bench.complete(request=1)
    await bench.clocks(2)
    assert bench.causes == ["request"]


@cocotb.test()
async def treats_excessive_driver_lead_as_lag(dut):
    """No driver can be so far ahead: its index then means the one modulo 2**16, and no completion
    is unseen."""
    for ahead in (16, 17, 100, MODULO // 4):
        bench = await Bench.start(dut, frames=1)
        await bench.complete(3)
        await bench.rearm(3 + ahead)
        assert bench.model.unreported == 0
        await bench.complete()
        await bench.clocks(2)
        assert bench.causes == ["frames"] and bench.model.unreported == 1


@cocotb.test()
async def clear_resets_driver_lead(dut):
    bench = await Bench.start(dut, frames=1)
    await bench.rearm(5)
    await bench.clock(clear=1)
    await bench.rearm(0)
    await bench.complete()
    await bench.clocks(2)
    assert bench.causes == ["frames"]


# Live settings, clearing --------------------------------------------------------------------------

@cocotb.test()
async def settings_are_live(dut):
    bench = await Bench.start(dut, frames=100, absolute_timer=1000)
    await bench.rearm()
    await bench.complete(50)
    await bench.clocks(100)
    assert not bench.interrupts
    await bench.clock(frames=50)
    await bench.clocks(1)
    await bench.rearm(0)
    await bench.clock(frames=0)
    assert bench.causes == ["frames"]
    await bench.clocks(500)
    await bench.clock(absolute_timer=400)  # already over
    await bench.clocks(1)
    assert bench.causes == ["frames", "absolute"]
    await bench.rearm(0)
    await bench.clock(absolute_timer=0, packet_timer=1000)
    await bench.clocks(500)
    await bench.complete(silent=1)
    await bench.clocks(300)
    await bench.clock(packet_timer=200)
    await bench.clocks(1)
    assert bench.causes == ["frames", "absolute", "packet"]
    await bench.clock(packet_timer=0, frames=1, gap=1000)
    await bench.rearm(0)
    await bench.clocks(500)
    assert len(bench.interrupts) == 3
    await bench.clock(gap=400)
    await bench.clocks(1)
    assert bench.causes == ["frames", "absolute", "packet", "frames"]


@cocotb.test()
async def timers_stop_at_setting(dut):
    """A timer stops at its setting, and continues from there when the setting grows."""
    for timer, cause in (("packet_timer", "packet"), ("absolute_timer", "absolute"),
                         ("gap", "request")):
        bench = await Bench.start(dut)
        await bench.rearm()
        await bench.complete(request=int(timer == "gap"))
        if timer == "gap":
            await bench.clock()  # it raises, which starts the gap
            bench.interrupts.clear()
        for setting, clocks in ((50, 30), (0, 100)):
            await bench.clock(**{timer: setting})
            await bench.clocks(clocks - 1)
        grown = bench.now
        await bench.clock(**{timer: 50}, rearm=int(timer == "gap"), rearm_index=0)
        await bench.clocks(60)
        assert bench.interrupts == [(grown + 20, cause)]


@cocotb.test()
async def causes_have_an_order(dut):
    """Every condition holds when the gap ends: the interrupt has the first one as its cause."""
    bench = await Bench.start(dut, frames=1, packet_timer=1, absolute_timer=1, gap=30)
    await bench.complete(4, request=1)
    await bench.rearm(0)
    for cause, index in (("request", 0), ("request", 4), ("frames", 4), ("absolute", 4),
                         ("packet", 4)):
        while not bench.model.line:
            await bench.clock()
        assert bench.causes[-1] == cause
        await bench.rearm(index)
        await bench.complete()
        off = {"frames": {"frames": 0}, "absolute": {"absolute_timer": 0}}.get(cause, {})
        await bench.clock(**off)


@cocotb.test()
async def clear_resets_state(dut):
    bench = await Bench.start(dut, frames=2, packet_timer=50)
    await bench.rearm()
    await bench.complete(3, request=1)
    await bench.clock(clear=1)
    await bench.clocks(100)
    assert len(bench.interrupts) == 1 and not bench.model.line
    await bench.rearm(0)
    await bench.clocks(100)
    assert len(bench.interrupts) == 1 and bench.model.completed == 0


# Halt ---------------------------------------------------------------------------------------------

@cocotb.test()
async def halt_raises_after_every_rearm(dut):
    """While the ring is halted: at once, one-shot, and delayed by the gap like any other cause."""
    bench = await Bench.start(dut, gap=100)
    await bench.clock(halted=1)
    await bench.clocks(200)
    assert not bench.interrupts, "not armed"
    await bench.rearm(0)
    await bench.clocks(50)
    assert bench.causes == ["halt"]
    await bench.rearm(0)
    await bench.clocks(200)
    assert bench.causes == ["halt"] * 2
    (first, _), (second, _) = bench.interrupts
    assert second - first == 101
    await bench.clock(halted=0)
    await bench.rearm(0)
    await bench.clocks(200)
    assert len(bench.interrupts) == 2


@cocotb.test()
async def halt_is_the_last_of_causes(dut):
    bench = await Bench.start(dut, frames=1)
    await bench.rearm()
    await bench.clock(completion=1, request=1)
    await bench.clock(halted=1)
    await bench.clocks(2)
    await bench.rearm(0)  # the driver still has not seen it
    await bench.clocks(2)
    await bench.rearm(1)
    await bench.complete(silent=1)
    await bench.clocks(2)
    assert bench.causes == ["request", "request", "halt"]


# Silent completions and re-arms -------------------------------------------------------------------

@cocotb.test()
async def rearm_ignores_silent_completions(dut):
    """Any number of unseen ones, in the clock of the re-arm or before."""
    for condition in CONDITIONS:
        for unseen in (1, 2, 20):
            for early in (0, 1):
                bench = await Bench.start(dut, **condition)
                await bench.complete(3)
                await bench.complete(unseen, silent=1)
                await bench.clock(rearm=1, rearm_index=3, completion=early, silent=early)
                await bench.clocks(50)
                assert not bench.interrupts and not bench.model.unreported, (condition, unseen)
                await bench.complete()
                await bench.clocks(50)
                assert len(bench.interrupts) == 1, (condition, unseen)


@cocotb.test()
async def counts_others_among_silent_completions(dut):
    """A completion that is not silent, anywhere among those that the driver has not seen."""
    for place in range(5):
        for early in (0, 1):  # the last one completes in the clock of the re-arm
            bench = await Bench.start(dut, absolute_timer=30)
            flags = [{"silent": int(n != place)} for n in range(5)]
            for n in range(5 - early):
                await bench.clock(completion=1, **flags[n])
            last = {"completion": 1, **flags[4]} if early else {}
            await bench.clock(rearm=1, rearm_index=place, **last)
            await bench.clocks(50)
            assert bench.causes == ["absolute"], place
            await bench.rearm(place + 1)
            await bench.clocks(50)
            assert len(bench.interrupts) == 1, "only silent ones are left"


# Random stimulus ----------------------------------------------------------------------------------

SETTINGS = {"frames": (0, 1, 2, 5, 30), "packet_timer": (0, 1, 3, 20),
            "absolute_timer": (0, 1, 10, 60), "gap": (0, 0, 1, 15, 80)}


@cocotb.test()
@cocotb.parametrize(seed=range(6))
async def random_stimulus(dut, seed):
    """A driver that lags or is ahead, masks and re-arms at random; completions at any rate."""
    rng = random.Random(seed)
    bench = await Bench.start(dut)
    if seed & 1:  # starts near the wrap of the index
        for _ in range(16):
            await bench.complete(MODULO // 16 - 6)
            await bench.rearm()
    for _ in range(60):
        await bench.clock(**{name: rng.choice(values) for name, values in SETTINGS.items()})
        density, driver = rng.choice((0.02, 0.2, 0.9)), rng.choice((0.01, 0.1, 0.5))
        silent = rng.choice((0.1, 0.9))
        for _ in range(rng.randrange(20, 200)):
            pulses = {}
            if rng.random() < density:
                pulses = {"completion": 1, "request": int(rng.random() < 0.1),
                          "silent": int(rng.random() < silent)}
            if rng.random() < driver:
                lag = rng.choice((0, 0, 0, 1, 2, 10, -1, -2, -3))
                pulses["rearm"] = 1
                pulses["rearm_index"] = (bench.model.completed - lag) % MODULO
            elif rng.random() < driver / 4:
                pulses["disarm"] = 1
            elif rng.random() < 0.001:
                pulses["clear"] = 1
            if rng.random() < 0.02:
                pulses["halted"] = rng.randrange(2)
            await bench.clock(**pulses)
    assert {"request", "frames"} <= set(bench.causes) and len(bench.interrupts) > 20
