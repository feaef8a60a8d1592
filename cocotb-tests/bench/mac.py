# SPDX-License-Identifier: BSD-2-Clause
"""The whole MAC between a wire, a memory and the model of its driver."""

import cocotb
from cocotb.triggers import ClockCycles, RisingEdge

from bench.models.driver import END, Driver
from bench.memory.memory import Memory
from bench.wires.wire import (Gmii2500Wire, GmiiWire, MiiWire, RgmiiRatesWire, RgmiiWire, RmiiWire,
                        Sim2500Wire, SimWire, TbiWire)
from bench.memory.wishbone_memory import WishboneMemory
from moderato.gateware.registers.table import EVENTS

WIRES = {"mac_queues_sim": SimWire, "mac_queues_gather": SimWire,
         "mac_few_frames": SimWire, "mac_stamped_pieces": SimWire,
         "mac_gather": SimWire, "mac_all_gated": SimWire, "mac_launch_gated": SimWire,
         "mac_gates_gated": SimWire, "mac_shaper_gated": SimWire, "mac_shaper_sim": SimWire,
         "mac_shaper": GmiiWire,
         "mac_launch_rates": RgmiiRatesWire,
         "mac_sim": SimWire, "mac_deep": SimWire, "mac_gated": SimWire,
         "mac_sim_2500": Sim2500Wire, "mac_gather_2500": Sim2500Wire,
         "mac_gmii_2500": Gmii2500Wire,
         "mac_gmii": GmiiWire, "mac_flows_gmii": GmiiWire, "mac_plain": GmiiWire, "mac_jumbo": GmiiWire,
         "mac_vlan_jumbo": GmiiWire, "mac_mii": MiiWire, "mac_rgmii": RgmiiWire,
         "mac_rgmii_rates": RgmiiRatesWire, "mac_rmii": RmiiWire, "mac_1000basex": TbiWire,
         "soc_wishbone32": SimWire, "soc_wishbone64": SimWire, "soc_axi_lite": SimWire,
         "soc_axi32": SimWire, "soc_axi64": SimWire,
         "mac_wishbone32": SimWire, "mac_wishbone64": SimWire, "mac_axi32": SimWire}


class Mac:
    """`wire`, `driver`, `memory` and `regs` around the device; `events` counts its event pulses."""

    @classmethod
    async def start(cls, dut, link=None, slow=0.0, enable=True, driver=None, **settings):
        """Resets the device. `link`: Mb/s, for wires with several rates; `driver`: options of
        Driver; `settings`: arguments of Driver.start()."""
        mac = cls()
        mac.dut = dut
        kind = WIRES[dut._name]
        rate = [] if link is None else [link]
        mac.phy_clocks = kind.clocks(dut, *rate)
        resets = [dut.sys_rst] + [getattr(dut, name) for name in kind.resets]
        for reset in resets:
            reset.value = 1
        kind_of_memory = WishboneMemory if hasattr(dut, "wb_cyc") else Memory
        mac.memory = kind_of_memory(dut, size=END)
        mac.memory.slow(slow)
        mac.driver = Driver(dut, mac.memory, **driver or {})
        mac.regs = mac.driver.regs
        mac.wire = kind(dut, *rate)
        mac.events = dict.fromkeys(EVENTS, 0)
        await ClockCycles(dut.sys_clk, mac.wire.held)
        for reset in resets:
            reset.value = 0
        await ClockCycles(dut.sys_clk, mac.wire.wake)
        cocotb.start_soon(mac._count_events())
        if hasattr(dut, "differs"):
            cocotb.start_soon(mac._compare())
        if enable:
            await mac.driver.start(**settings)
        return mac

    async def _count_events(self):
        while True:
            await self.dut.events.value_change
            await RisingEdge(self.dut.sys_clk)
            while word := int(self.dut.events.value):
                for bit, name in enumerate(EVENTS):
                    self.events[name] += word >> bit & 1
                await RisingEdge(self.dut.sys_clk)

    async def _compare(self):
        await self.dut.differs.value_change
        raise AssertionError("outputs of the MAC with clock gates differ from those without")

    async def clocks(self, count):
        await ClockCycles(self.dut.sys_clk, count)

    async def settle(self, octets=64):
        """Waits until all frames sent so far have passed through the MAC."""
        await self.wire.sent()
        await self.clocks(1500 + 8*octets)

    async def expect(self, frames):
        """Expects only these frames in memory, in this order."""
        for frame in frames:
            got, = await self.driver.poll(1)
            assert not got.error, f"the descriptor of {len(frame)} octets has ERROR"
            assert got.data == frame, f"{len(got.data)} octets came, not these {len(frame)}"

    async def expect_nothing(self, clocks=2000):
        await self.clocks(clocks)
        frame = self.driver.receive()
        assert frame is None, f"an unexpected frame of {len(frame.data)} octets"


async def edges(dut, clocks):
    """The number of edges of each part of a MAC with clock gates, in this many clocks."""
    counts = {"datapath": 0, "moderation": 0}

    async def count(part):
        while True:
            await RisingEdge(getattr(dut, f"{part}_clk"))
            counts[part] += 1

    tasks = [cocotb.start_soon(count(part)) for part in counts]
    await ClockCycles(dut.sys_clk, clocks)
    for task in tasks:
        task.cancel()
    return counts


class End:
    """One of a device's two MACs as a device: its ports' names begin with the MAC's prefix."""

    def __init__(self, dut, name):
        self._dut, self._prefix = dut, f"{name}_"

    def __getattr__(self, name):
        return getattr(self._dut, name if name.startswith("sys_") else self._prefix + name)
