# SPDX-License-Identifier: BSD-2-Clause
"""The MAC in a SoC, on LiteX's own interconnect.

Tests its registers by accesses of every width, and its DMA with an error of each access in turn.
"""

import random

import cocotb
from cocotb.triggers import ClockCycles, RisingEdge, with_timeout
from cocotbext.axi import AxiBus, AxiLiteBus, AxiLiteMaster, AxiMaster, AxiResp

from bench.models.frames import plain
from bench.devices.litex_soc import CSRS, REGISTERS
from bench.mac import Mac
from bench.wires.wire import add_fcs
from bench.models.wishbone import TABLE
from cases import masters
from cases.basics import MIN
from moderato.gateware.registers import table as registers

CASES = [masters.descriptor_bus_error_halts_ring, masters.each_write_error_of_received_frame,
         masters.each_read_error_of_sent_frame, masters.random_frames_both_ways]
WORD = 4  # bytes
PAIR = TABLE["HASH_LOW"].offset  # of two registers that use all bits


class WishboneHost:
    """The master at host_..., with the interface of cocotbext-axi's."""

    def __init__(self, dut):
        self.dut, self.width = dut, len(dut.host_dat_w) // 8
        for name in ("cyc", "stb", "we", "adr", "dat_w", "sel"):
            getattr(dut, f"host_{name}").value = 0

    async def access(self, address, length, data=None):
        """One access; returns (the value read, whether it ended with ACK)."""
        dut, lane = self.dut, address % self.width
        assert lane + length <= self.width
        dut.host_adr.value = address // self.width
        dut.host_sel.value = (1 << length) - 1 << lane
        dut.host_we.value = int(data is not None)
        dut.host_dat_w.value = int.from_bytes(data or b"", "little") << 8*lane
        dut.host_cyc.value = dut.host_stb.value = 1
        while True:
            await RisingEdge(dut.sys_clk)
            ack, err = int(dut.host_ack.value), int(dut.host_err.value)
            if ack or err:
                break
        assert ack != err, "ACK and ERR at once"
        read = int(dut.host_dat_r.value).to_bytes(self.width, "little")[lane:lane + length]
        dut.host_cyc.value = dut.host_stb.value = 0
        await RisingEdge(dut.sys_clk)
        return read, bool(ack)


class AXIHost:
    def __init__(self, dut):
        kind, bus = (AxiMaster, AxiBus) if hasattr(dut, "host_awlen") else (AxiLiteMaster, AxiLiteBus)
        self.master = kind(bus.from_prefix(dut, "host"), dut.sys_clk, dut.sys_rst)
        self.width = 2*WORD  # of the longest access, on any bus

    async def access(self, address, length, data=None):
        if data is None:
            answer = await self.master.read(address, length)
            return bytes(answer.data), answer.resp == AxiResp.OKAY
        answer = await self.master.write(address, data)
        return b"", answer.resp == AxiResp.OKAY


class SoC:
    """The MAC in a SoC, with two masters for its registers: `regs` and `host`."""

    @classmethod
    async def start(cls, dut, **settings):
        soc = cls()
        soc.host = (WishboneHost if hasattr(dut, "host_cyc") else AXIHost)(dut)
        soc.mac = await Mac.start(dut, **settings)
        soc.regs = soc.mac.regs
        return soc

    async def access(self, *words):
        """An access by the host, which must end soon."""
        return await with_timeout(self.host.access(*words), 10, "us")


@cocotb.test()
async def each_access_is_answered(dut):
    """Accesses of any bytes: a register is written only if all of its bytes are, and partial writes
    return an error."""
    soc = await SoC.start(dut, enable=False)
    held = bytearray(2*WORD)
    await soc.access(REGISTERS + PAIR, WORD, bytes(WORD))
    await soc.access(REGISTERS + PAIR + WORD, WORD, bytes(WORD))
    accesses = [(start, length) for length in range(1, 2*WORD + 1)
                for start in range(2*WORD + 1 - length)
                if start % soc.host.width + length <= soc.host.width]
    for start, length in random.sample(accesses*4, len(accesses)*4):
        data, partial = random.randbytes(length), False
        for word in range(0, 2*WORD, WORD):
            inside = range(max(start, word), min(start + length, word + WORD))
            if len(inside) == WORD:
                held[word:word + WORD] = data[word - start:][:WORD]
            partial |= 0 < len(inside) < WORD
        _, ok = await soc.access(REGISTERS + PAIR + start, length, data)
        assert ok != partial, f"{length} bytes from {start} on"
        for n, name in enumerate(("HASH_LOW", "HASH_HIGH")):
            assert await soc.regs.read(name) == int.from_bytes(held[WORD*n:][:WORD], "little"), \
                f"{length} bytes from {start} on: {name}"
        start, length = random.choice(accesses)
        assert await soc.access(REGISTERS + PAIR + start, length) == (held[start:start + length], True)


@cocotb.test()
async def serves_narrow_master(dut):
    """A 32-bit master on any bus: writes of less than a word return an error, and nothing hangs."""
    soc = await SoC.start(dut, enable=False)
    at, value = PAIR + WORD, 0
    for sel in [*range(1, 16)]*2:
        data = random.getrandbits(32)
        answers = await soc.regs.back_to_back([(at, data, sel), (at,)])
        value = data if sel == 15 else value
        assert answers[1] == value and (answers[0] is None) == (sel != 15), f"SEL {sel:#06b}"


@cocotb.test()
async def two_masters_at_once(dut):
    """Each master gets its own responses, while the MAC's DMA uses the bus, too."""
    soc = await SoC.start(dut, driver={"rx_order": 5})
    frames = [plain(random.randrange(MIN, 300)) for _ in range(20)]
    for frame in frames:
        soc.mac.wire.send(add_fcs(frame))

    async def read():
        for _ in range(60):
            assert await soc.regs.read("ID") == registers.ID
            await ClockCycles(dut.sys_clk, random.randrange(10))

    reading = cocotb.start_soon(read())
    receiving = cocotb.start_soon(soc.mac.expect(frames))
    for n in range(60):
        data = random.randbytes(WORD)
        address = REGISTERS + PAIR + WORD*(n % 2)
        assert (await soc.access(address, WORD, data))[1]
        assert await soc.access(address, WORD) == (data, True)
    await reading
    await receiving


@cocotb.test()
async def interrupts_behind_csrs(dut):
    """LiteX's event registers of each line: an interrupt passes from reset on, as the MAC raises
    it. (Read by the narrow master: LiteX's converter from 64 bits of AXI to 32 mistakes a beat's
    upper half for the next one's lower.)"""
    soc = await SoC.start(dut, RX_FRAMES=1, TX_FRAMES=1)
    driver, frame = soc.mac.driver, plain(MIN)

    async def csr(line, name):
        place = ("status", "pending", "enable").index(name)
        return await soc.regs.access(CSRS - REGISTERS + 0x800*line + WORD*place)

    for line, ring in enumerate((driver.rx, driver.tx)):
        assert await csr(line, "enable") == 1 and await csr(line, "pending") == 0
        if line:
            await driver.send(frame)
        else:
            soc.mac.wire.send(add_fcs(frame))
        await soc.mac.settle()
        assert await csr(line, "status") == await csr(line, "pending") == 1
        assert await csr(1 - line, "pending") == 0
        while ring.done() is not None:
            pass
        await ring.rearm()
        await ClockCycles(dut.sys_clk, 10)
        assert await csr(line, "pending") == 0
