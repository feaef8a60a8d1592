# SPDX-License-Identifier: BSD-2-Clause
"""The AXI master with errors of single beats, and with late responses."""

import random

import cocotb
from cocotb.triggers import Combine, RisingEdge, with_timeout
from cocotbext.axi import AxiResp

from bench.memory.memory import BEAT, LINE
from bench.models.dma_client import CLIENTS, SIZE, Client, start

DUT  = "dma"
SLOW = "$^"  # none
ANSWERS = [AxiResp.SLVERR, AxiResp.DECERR]
BEATS = {"first": 0, "middle": 3, "last": 7}


async def pulses(signal, clock, seen):
    """Counts in `seen` the clocks in which a signal is set."""
    while True:
        await clock
        seen[signal._name] = seen.get(signal._name, 0) + int(signal.value)


async def read_line(dut, number, address):
    """Returns (data, error) of each beat of a whole line."""
    port, beats = Client(dut, f"read{number}"), []

    async def collect():
        while len(beats) < LINE // BEAT:
            await port.clock
            if int(port.valid.value):
                beats.append((int(port.data.value), int(port.error.value)))

    task = cocotb.start_soon(collect())
    await port.request(address, LINE // BEAT)
    await with_timeout(task, 2, "us")
    return beats


async def write_line(dut, number, address, data):
    """Writes a whole line; returns after its acknowledgement."""
    port = Client(dut, f"write{number}")

    async def done():
        while not int(port.done.value):
            await port.clock

    task = cocotb.start_soon(done())
    await port.request(address, LINE // BEAT, note=number)
    for at in range(0, LINE, BEAT):
        port.valid.value = 1
        port.data.value = int.from_bytes(data[at:at + BEAT], "little")
        await port.clock
        while not int(port.ready.value):
            await port.clock
    port.valid.value = 0
    await with_timeout(task, 2, "us")
    await port.clock


@cocotb.test()
@cocotb.parametrize(answer=ANSWERS, beat=list(BEATS))
async def one_bus_error_in_read(dut, answer, beat):
    """The client gets the error with that beat and no other; it is counted once."""
    memory = await start(dut)
    memory.ram.write(0, content := random.randbytes(SIZE))
    seen = {}
    cocotb.start_soon(pulses(dut.read_error, RisingEdge(dut.sys_clk), seen))
    for rounds in range(4):
        number, line = random.choice(CLIENTS), LINE*random.randrange(SIZE // LINE)
        refused = line + BEAT*BEATS[beat]
        memory.refuse(reads=lambda address: address == refused, answer=answer)
        got = await read_line(dut, number, line)
        for n, (data, error) in enumerate(got):
            address = line + BEAT*n
            assert error == (address == refused), f"beat {n}"
            if not error:
                assert data == int.from_bytes(content[address:address + BEAT], "little")
        memory.refuse()
        assert not any(error for _, error in await read_line(dut, number, line))
        assert seen["read_error"] == rounds + 1


@cocotb.test()
@cocotb.parametrize(answer=ANSWERS, beat=list(BEATS))
async def one_bus_error_in_write(dut, answer, beat):
    """It is counted once, in the clock of the acknowledgement, which comes in any case."""
    memory = await start(dut)
    seen = {}
    cocotb.start_soon(pulses(dut.write_error, RisingEdge(dut.sys_clk), seen))
    for rounds in range(4):
        number, line = random.choice(CLIENTS), LINE*random.randrange(SIZE // LINE)
        before, data = memory.ram.read(line, LINE), random.randbytes(LINE)
        at = BEAT*BEATS[beat]
        memory.refuse(writes=lambda address: address == line + at, answer=answer)
        await write_line(dut, number, line, data)
        assert memory.ram.read(line, LINE) == data[:at] + before[at:at + BEAT] + data[at + BEAT:]
        memory.refuse()
        await write_line(dut, number, line, data)
        assert seen["write_error"] == rounds + 1


@cocotb.test()
async def more_requests_than_owners(dut):
    """All clients have requests while memory does not respond; later each gets only its own
    responses."""
    memory = await start(dut)
    memory.ram.write(0, content := random.randbytes(SIZE))
    for channel in (memory.ram.read_if.r_channel, memory.ram.write_if.b_channel):
        channel.pause = True
    clock, got, done = RisingEdge(dut.sys_clk), {n: [] for n in CLIENTS}, {n: [] for n in CLIENTS}

    async def listen(n):
        read, write = Client(dut, f"read{n}"), Client(dut, f"write{n}")
        while True:
            await clock
            if int(read.valid.value):
                got[n].append(int(read.data.value))
            if int(write.done.value):
                done[n].append(int(write.done_note.value))

    async def ask(n):
        for burst in range(6):
            await Client(dut, f"read{n}").request(LINE*(8*n + burst), 1 + n)

    async def give(n):
        port = Client(dut, f"write{n}")
        port.data.value = n
        for burst in range(6):
            await port.request(SIZE // 2 + LINE*(8*n + burst), 1, note=16*n + burst)
            port.valid.value = 1
            await clock
            while not int(port.ready.value):
                await clock
            port.valid.value = 0

    for n in CLIENTS:
        cocotb.start_soon(listen(n))
    tasks = [cocotb.start_soon(job(n)) for job in (ask, give) for n in CLIENTS]
    for _ in range(100):
        await clock
    assert not any(got.values()) and not any(done.values()), "a response precedes memory's"
    for channel in (memory.ram.read_if.r_channel, memory.ram.write_if.b_channel):
        channel.pause = False
    await with_timeout(Combine(*tasks), 20, "us")
    for _ in range(200):
        await clock
    for n in CLIENTS:
        lines = [LINE*(8*n + burst) for burst in range(6)]
        assert got[n] == [int.from_bytes(content[at:at + BEAT], "little")
                          for line in lines for at in range(line, line + BEAT*(1 + n), BEAT)]
        assert done[n] == [16*n + burst for burst in range(6)]
