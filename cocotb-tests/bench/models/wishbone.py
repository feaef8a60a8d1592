# SPDX-License-Identifier: BSD-2-Clause
"""A Wishbone master that reads and writes the MAC's registers by name."""

from cocotb.triggers import Lock, RisingEdge

from moderato.gateware.registers import table as registers

TABLE = {register.name: register for register in registers.registers()}
PATIENCE = 1000  # clocks in which an access must be acknowledged


def field(register: str, name: str):
    """A field of the table, by name."""
    return next(f for f in TABLE[register].fields if f.name == name)


def extract(register: str, name: str, value: int) -> int:
    f = field(register, name)
    return (value & f.mask) >> f.lsb


class Registers:
    """Registers of a device with Wishbone signals bus_*; one access at a time."""

    def __init__(self, dut):
        self.dut = dut
        self.lock = Lock()
        for signal in ("cyc", "stb", "we", "adr", "dat_w", "sel"):
            getattr(dut, f"bus_{signal}").value = 0

    def _present(self, offset, data=None, sel=0xF):
        dut = self.dut
        dut.bus_adr.value = offset // 4
        dut.bus_sel.value = sel
        dut.bus_we.value = int(data is not None)
        dut.bus_dat_w.value = data or 0
        dut.bus_cyc.value = dut.bus_stb.value = 1

    async def _answer(self):
        """The value that was read; None after an error."""
        for _ in range(PATIENCE):
            await RisingEdge(self.dut.sys_clk)
            # LiteX's bridges raise ACK along with ERR.
            if hasattr(self.dut, "bus_err") and int(self.dut.bus_err.value):
                return None
            if int(self.dut.bus_ack.value):
                return int(self.dut.bus_dat_r.value)
        raise AssertionError(f"no acknowledge at word {int(self.dut.bus_adr.value):#x}")

    async def back_to_back(self, accesses):
        """Each (byte offset, data to be written or None[, sel]) follows the one before in the next
        clock.

        Returns the values that were read, None after an error. An idle clock follows.
        """
        async with self.lock:
            values = []
            for access in accesses:
                self._present(*access)
                values.append(await self._answer())
            dut = self.dut
            dut.bus_cyc.value = dut.bus_stb.value = dut.bus_we.value = 0
            await RisingEdge(dut.sys_clk)
            return values

    async def access(self, offset, data=None):
        """Writes `data`, or reads, at a byte offset."""
        value, = await self.back_to_back([(offset, data)])
        assert value is not None, f"the access at offset {offset:#x} returned an error"
        return value

    async def write(self, name, value):
        await self.access(TABLE[name].offset, value)

    async def read(self, name, field_name=None):
        value = await self.access(TABLE[name].offset)
        return value if field_name is None else extract(name, field_name, value)

    async def counters(self):
        """Every statistics counter by name."""
        return {r.name: await self.read(r.name) for r in registers.STATISTICS}
