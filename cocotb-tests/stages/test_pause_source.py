# SPDX-License-Identifier: BSD-2-Clause
"""The choice between a frame, a pause frame and none, against a model in every clock."""

import random
from dataclasses import dataclass

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge

DUT = "pause_source"
STATION = bytes.fromhex("024d6f640000")
PATIENCE = 255


def frame(quanta):
    """A pause frame as words of 64 bits."""
    octets = bytes.fromhex("0180c2000001") + STATION + bytes.fromhex("88080001") + \
        quanta.to_bytes(2, "big") + bytes(6)
    return [int.from_bytes(octets[n:n + 8], "little") for n in (0, 8, 16)]


@dataclass
class Model:
    """The rules of annex 31B and of PauseSource."""
    busy:    bool = False  # a frame is in progress,
    ours:    bool = False  # a pause frame,
    quanta:  int = 0       # with these quanta.
    stop:    bool = False  # the other end should pause
    stopped: bool = False  # and this was requested,
    asked:   int = 0       # this many times in a row.
    left:    int = 0       # quanta until the next request,
    clocks:  int = 0       # clocks left of the first of them.
    number:  int = 0       # words of the frame that were taken

    @property
    def wanted(self):
        again = self.stop and self.left == 0 and self.asked < PATIENCE
        return self.stop != self.stopped or again

    @property
    def own(self):
        return self.ours if self.busy else self.wanted

    def available(self, inputs):
        return self.own or bool(inputs["fifo_available"] and (self.busy or not inputs["hold"]))

    def step(self, inputs, taken):
        """One clock; `taken`: next and free (release) of the transmitter."""
        begins = self.wanted and not self.busy
        self.ours, self.busy = self.own, self.available(inputs) and not taken["free"]
        if taken["free"]:
            self.number = 0
        elif taken["next"]:
            self.number += 1
        if begins:
            self.stopped, self.quanta = self.stop, inputs["quanta"] if self.stop else 0
        self._count(inputs, begins)
        self.stop = bool(inputs["enable"] and (inputs["full"] or self.stop and not inputs["roomy"]))

    def _count(self, inputs, begins):
        self.asked = self.asked + begins if self.stop else 0
        if not self.stop:
            self.left = 0
        elif begins:
            self.left, self.clocks = inputs["quanta"] // 2, inputs["quantum"]
        elif self.left and self.clocks > 1:
            self.clocks -= 1
        elif self.left:
            self.left, self.clocks = self.left - 1, inputs["quantum"]


class Bench:
    """`told` lists the quanta of the started pause frames."""

    @classmethod
    async def start(cls, dut):
        bench = cls()
        bench.dut, bench.model, bench.told = dut, Model(), []
        Clock(dut.sys_clk, 10, unit="ns").start()
        bench.inputs = dict.fromkeys(("hold", "enable", "full", "roomy", "fifo_available"), 0)
        bench.inputs |= {"quanta": 12, "quantum": 3, "fifo_word": 0, "fifo_head_length": 0,
                         "fifo_head_offset": 0, "fifo_head_error": 0}
        dut.station.value = int.from_bytes(STATION, "little")
        dut.next.value = dut.free.value = 0
        dut.sys_rst.value = 1
        await bench._apply()
        await RisingEdge(dut.sys_clk)
        dut.sys_rst.value = 0
        return bench

    async def _apply(self):
        for name, value in self.inputs.items():
            getattr(self.dut, name).value = value
        await RisingEdge(self.dut.sys_clk)

    async def clock(self, ends=0.0, **inputs):
        """One clock; the transmitter ends a frame with this probability."""
        self.inputs |= inputs
        model, dut, now = self.model, self.dut, self.inputs
        available = model.available(now)
        taken = {"free": int(available and random.random() < ends),
                 "next": int(available and model.busy and model.number < 2 and random.random() < 0.5)}
        dut.next.value, dut.free.value = taken["next"], taken["free"]
        await self._apply()
        got = {name: int(getattr(dut, name).value)
               for name in ("available", "own", "stopped", "fifo_next", "fifo_free")}
        assert got == {"available": available, "own": model.own, "stopped": model.stopped,
                       "fifo_next": taken["next"] and not model.own,
                       "fifo_free": taken["free"] and not model.own}, got
        if available:
            self._check_frame(now)
        if model.wanted and not model.busy:
            self.told.append(now["quanta"] if model.stop else 0)
        model.step(now, taken)

    def _check_frame(self, now):
        dut, model = self.dut, self.model
        head = [int(getattr(dut, f"head_{name}").value) for name in ("length", "offset", "error")]
        if not model.own:
            assert head == [now[f"fifo_head_{name}"] for name in ("length", "offset", "error")]
            assert int(dut.word.value) == now["fifo_word"]
            return
        assert head == [18, 0, 0]
        if model.busy:
            assert int(dut.word.value) == frame(model.quanta)[model.number]


@cocotb.test()
async def repeats_pause_until_limit(dut):
    """255 times, each when half of the pause is over; then not until there was room."""
    bench = await Bench.start(dut)
    for rounds in range(3):
        await bench.clock(enable=1, full=1, roomy=0)
        for _ in range(256 * 24 if rounds else 120):
            await bench.clock(ends=0.5)
        assert set(bench.told) == {12}
        assert len(bench.told) == 255 if rounds else 2 < len(bench.told) < 10
        await bench.clock(full=0, roomy=1)
        for _ in range(30):
            await bench.clock(ends=0.5)
        assert bench.told.pop() == 0
        bench.told.clear()


@cocotb.test()
@cocotb.parametrize(hurry=[0.02, 0.3, 0.9])
async def at_random(dut, hurry):
    bench = await Bench.start(dut)
    held = both = 0
    for _ in range(6000):
        inputs = {name: int(random.random() < 0.5) for name in ("hold", "enable", "full", "roomy")
                  if random.random() < 0.05}
        if random.random() < 0.01:
            inputs |= {"quanta": random.randrange(40), "quantum": random.randrange(6)}
        model, stays = bench.model, bench.inputs["fifo_available"]
        if not (stays and model.busy and not model.ours):
            inputs["fifo_available"] = int(stays or random.random() < 0.3)
            if not stays:
                inputs |= {"fifo_word": random.getrandbits(64),
                           "fifo_head_length": random.getrandbits(14),
                           "fifo_head_offset": random.getrandbits(3),
                           "fifo_head_error": random.getrandbits(1)}
        await bench.clock(ends=hurry, **inputs)
        if int(dut.fifo_free.value):
            bench.inputs["fifo_available"] = 0
        held += bench.inputs["hold"] and bench.inputs["fifo_available"] and not model.busy
        both += model.own and bench.inputs["fifo_available"]
    assert held > 100 and both > 20 and {0} < set(bench.told)
