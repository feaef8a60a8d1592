# SPDX-License-Identifier: BSD-2-Clause
"""The surroundings of the simulated board (board.v): its console, and a wire at each port.

They take no time while they are idle, so a boot runs at the full speed of the simulator.
"""

import time
from types import SimpleNamespace

import cocotb
from cocotb.triggers import Event, FallingEdge, RisingEdge, with_timeout
from cocotb.utils import get_sim_time

from bench.wires.wire import RgmiiRatesWire, RgmiiWire

IPV4 = bytes.fromhex("0800")
PORTS = 2
PROMPT = "# "  # of the shell on Linux
PADS  = [f"{side}_{pad}" for side in ("rx", "tx") for pad in ("clk", "ctl", "data")]


class Console:
    """`text` is the board's whole output; its lines are in the log at level INFO."""

    def __init__(self, dut):
        self.dut, self.text, self.seen = dut, "", 0
        self.more = Event()
        dut.serial_sink_valid.value = 0
        cocotb.start_soon(self._listen())

    async def _listen(self):
        valid, clock = self.dut.serial_source_valid, self.dut.sys_clk
        while True:
            if not int(valid.value):
                await RisingEdge(valid)
            await FallingEdge(clock)
            if int(valid.value):
                self.text += chr(int(self.dut.serial_source_data.value))
                self.more.set()
                if self.text[-1] == "\n":
                    cocotb.log.info("console: %s", self.text.splitlines()[-1])

    async def expect(self, wanted: str, ms: float) -> str:
        """The board's output from the end of the last call up to `wanted`, within this many ms."""
        await with_timeout(self._expect(wanted), ms, "ms")
        end = self.text.index(wanted, self.seen) + len(wanted)
        start, self.seen = self.seen, end
        return self.text[start:end]

    async def _expect(self, wanted):
        while wanted not in self.text[self.seen:]:
            self.more.clear()
            await self.more.wait()

    async def write(self, text: str):
        """Types the text."""
        dut = self.dut
        await RisingEdge(dut.sys_clk)  # expect() ends at a falling edge
        for octet in text.encode():
            dut.serial_sink_data.value  = octet
            dut.serial_sink_valid.value = 1
            await FallingEdge(dut.sys_clk)
            while not int(dut.serial_sink_ready.value):
                await FallingEdge(dut.sys_clk)
            await RisingEdge(dut.sys_clk)
        dut.serial_sink_valid.value = 0


class Box:
    """`console`, and after `connect()` a wire for each port in `wires`."""

    def __init__(self, dut):
        self.dut = dut
        for port in range(PORTS):
            self.rate(port, 1000)
            getattr(dut, f"mdio{port}_in").value = 1  # no device responds
        self.clocks(False)
        self.console = Console(dut)

    def clocks(self, run: bool):
        """Whether the PHYs have clocks. While they do, each edge calls Python."""
        self.dut.link.value = int(run)

    def rate(self, port: int, link: int):
        """Sets the PHY's clock to that of `link` Mb/s."""
        getattr(self.dut, f"eth{port}_half_ps").value = RgmiiRatesWire.period(link) * 500

    def connect(self, wire=RgmiiWire):
        """Plugs the cables in."""
        self.clocks(True)
        self.wires = [wire(SimpleNamespace(**{
            f"pads_{pad}": getattr(self.dut, f"eth{port}_{pad}") for pad in PADS}))
            for port in range(PORTS)]


def report(what: str):
    """Logs the cycle, and the CPU time since the start."""
    cycles = get_sim_time("ns") / RgmiiWire.sys_period_ns
    cocotb.log.info("%s: %.1f M cycles, %.0f CPU seconds", what, cycles / 1e6,
                    time.process_time())
