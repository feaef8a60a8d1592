# SPDX-License-Identifier: BSD-2-Clause
"""The AXI master: three clients in each direction, with cocotbext-axi's RAM and back-pressure.

bench.memory.memory enforces AXI's rules and ours in every test.
"""

import random
from collections import deque

import cocotb
from cocotb.triggers import Combine, RisingEdge, with_timeout
from cocotbext.axi import AxiResp

from bench.memory.memory import BEAT
from bench.models.dma_client import CLIENTS, SIZE, Client, start

DUT  = "dma"
SLOW = "$^"  # none


def burst():
    """Address and beats of a burst within a line, in the quarter of memory that has no writes."""
    first = random.randrange(8)
    line = random.randrange(SIZE*3 // 4, SIZE, 64)
    return line + first*BEAT, random.randint(1, 8 - first)


async def read(dut, memory, number, count, pause):
    """Reads `count` bursts through one port; checks every beat, its order and `last`."""
    port = Client(dut, f"read{number}")
    expected = deque()
    issued = 0

    async def check():
        while expected or issued < count:
            await port.clock
            if int(port.valid.value):
                address, last = expected.popleft()
                word = int.from_bytes(memory.ram.read(address, BEAT), "little")
                assert (int(port.data.value), int(port.last.value)) == (word, last), hex(address)
                assert not int(port.error.value)

    checker = cocotb.start_soon(check())
    for _ in range(count):
        address, beats = burst()
        expected.extend((address + n*BEAT, n == beats - 1) for n in range(beats))
        await port.request(address, beats)
        issued += 1
        while random.random() < pause:
            await port.clock
    await checker


async def write(dut, memory, number, count, pause):
    """Writes `count` bursts through one port into its own part of memory.

    When `done` comes with a burst's note, memory must hold its data.
    """
    port = Client(dut, f"write{number}")
    under_way = deque()
    finished = 0

    async def check():
        nonlocal finished
        while finished < count:
            await port.clock
            if int(port.done.value):
                note, address, data = under_way.popleft()
                assert int(port.done_note.value) == note
                written = memory.ram.read(address, len(data))
                assert written == data, f"done before {address:#x} was written"
                finished += 1

    checker = cocotb.start_soon(check())
    for serial in range(count):
        _, beats = burst()
        address = number*(SIZE // 4) + 64*serial + BEAT*random.randint(0, 8 - beats)
        note, data = random.getrandbits(8), random.randbytes(beats*BEAT)
        under_way.append((note, address, data))
        await port.request(address, beats, note=note)
        for n in range(beats):
            while random.random() < pause:
                await port.clock
            port.valid.value = 1
            port.data.value = int.from_bytes(data[n*BEAT:(n + 1)*BEAT], "little")
            await port.clock
            while not int(port.ready.value):
                await port.clock
            port.valid.value = 0
    await checker


@cocotb.test()
@cocotb.parametrize(slow=[0.0, 0.3, 0.8], pause=[0.0, 0.5])
async def every_client_gets_its_own(dut, slow, pause):
    memory = await start(dut, slow)
    memory.ram.write(0, random.randbytes(SIZE))
    tasks = [cocotb.start_soon(job(dut, memory, n, 60, pause))
             for n in CLIENTS for job in (read, write)]
    await with_timeout(Combine(*tasks), 1, "ms")
    assert len([b for b in memory.bursts if b[0] == "aw"]) == 180
    assert len([b for b in memory.bursts if b[0] == "ar"]) == 180


@cocotb.test()
async def reads_keep_the_bus_busy(dut):
    """Full lines back to back: outstanding bursts hide the memory's latency."""
    await start(dut)
    port, clocks, beats = Client(dut, "read0"), 0, 0

    async def requests():
        for line in range(100):
            await port.request(64*line, 8)

    task = cocotb.start_soon(requests())
    while beats < 800:
        await port.clock
        clocks += 1
        beats += int(port.valid.value)
    await task
    assert 8*beats/clocks > 6, f"{8*beats/clocks:.2f} bytes a clock"


@cocotb.test()
async def clients_share_fairly(dut):
    """Three clients with constant requests: none gets more than one burst ahead of another."""
    await start(dut)
    taken = dict.fromkeys(CLIENTS, 0)

    async def greedy(n):
        port = Client(dut, f"read{n}")
        while True:
            await port.request(64*n, 8)
            taken[n] += 1

    tasks = [cocotb.start_soon(greedy(n)) for n in CLIENTS]
    for _ in range(2000):
        await RisingEdge(dut.sys_clk)
        assert max(taken.values()) - min(taken.values()) <= 2, taken
    for task in tasks:
        task.cancel()
    assert min(taken.values()) > 40


@cocotb.test()
async def reports_bus_errors(dut):
    """SLVERR on a read reaches the client with its beat; on a write it pulses write_error."""
    memory = await start(dut)

    async def refuse(*_):
        raise OSError("no such address")

    async def seen(signal):
        while not int(signal.value):
            await RisingEdge(dut.sys_clk)

    memory.ram.read_if._read = memory.ram.write_if._write = refuse
    port = Client(dut, "read1")
    error = cocotb.start_soon(seen(port.error))
    pulse = cocotb.start_soon(seen(dut.read_error))
    await port.request(0, 1)
    await with_timeout(Combine(error, pulse), 1, "us")
    port = Client(dut, "write2")
    pulse = cocotb.start_soon(seen(dut.write_error))
    await port.request(0, 1, note=0)
    port.valid.value = 1
    await with_timeout(pulse, 1, "us")
    assert AxiResp(int(dut.dma_bresp.value)) == AxiResp.SLVERR
