# SPDX-License-Identifier: BSD-2-Clause
"""The memory of the DMA: cocotbext-axi's RAM with an adjustable delay, and checks of AXI's rules."""

import random

import cocotb
from cocotb.queue import Queue
from cocotb.triggers import ClockCycles, RisingEdge
from cocotbext.axi import AxiBus, AxiRam, AxiResp

LINE = 64  # bytes: no burst is longer than a line of the CPU's cache, or crosses one
BEAT = 8   # bytes: of the MAC's own master

# The payload must not change while valid waits for ready.
STABLE = {"aw": ("addr", "len"), "ar": ("addr", "len"), "w": ("data", "strb", "last")}


class Memory:
    """RAM at `prefix` of the device; `ram` reads and writes it from the test's side.

    `bursts` lists (channel, address, beats) as they are accepted.
    """

    def __init__(self, dut, prefix="dma", size=2**20):
        self.ram = AxiRam(AxiBus.from_prefix(dut, prefix), dut.sys_clk, dut.sys_rst, size=size)
        self.bursts = []
        self._dut = dut
        self._prefix = prefix
        self.beat = len(self._signal("wdata")) // 8
        self._refused_reads = self._refused_writes = lambda address: False
        self._refusal = AxiResp.SLVERR
        self._inject()
        for channel in STABLE:
            cocotb.start_soon(self._check(channel))

    # Slowness -----------------------------------------------------------------------------------

    def _channels(self):
        write, read = self.ram.write_if, self.ram.read_if
        return [write.aw_channel, write.w_channel, write.b_channel, read.ar_channel, read.r_channel]

    def slow(self, probability, seed=0):
        """Each channel pauses in a clock with this probability; 0 means never."""
        for number, channel in enumerate(self._channels()):
            rng = random.Random(f"{seed} {number}")
            channel.set_pause_generator(_coin(rng, probability) if probability else None)
            channel.pause = False

    def starve(self, stopped):
        """Memory accepts and answers nothing while stopped."""
        for channel in self._channels():
            channel.set_pause_generator(None)
            channel.pause = stopped

    def delay(self, clocks):
        """From now on, the first beat of a read comes this many clocks after its request, whatever else
        is in progress: the latency of soc/memory.py."""
        channel, taken = self.ram.read_if.ar_channel, Queue()
        take = channel.recv

        async def wait():
            await ClockCycles(self._dut.sys_clk, clocks)

        async def accept():
            while True:
                taken.put_nowait((await take(), cocotb.start_soon(wait())))

        async def late():
            transaction, waited = await taken.get()
            await waited
            return transaction

        channel.recv = late
        cocotb.start_soon(accept())

    # Faults --------------------------------------------------------------------------------------

    def refuse(self, reads=None, writes=None, answer=AxiResp.SLVERR):
        """From now on, beats at addresses that these functions select fail. Without functions, none
        fails.

        A failed beat of a read has random data. A failed beat of a write is not written, and its
        burst returns the error.
        """
        self._refused_reads = reads or (lambda address: False)
        self._refused_writes = writes or (lambda address: False)
        self._refusal = answer

    def _inject(self):
        """Changes responses before they reach the bus, because the RAM returns SLVERR for any
        failure."""
        failed = {}
        for name, interface, channel, response in (
                ("read", self.ram.read_if, self.ram.read_if.r_channel, "rresp"),
                ("write", self.ram.write_if, self.ram.write_if.b_channel, "bresp")):
            def wrap(name=name, access=getattr(interface, f"_{name}"), send=channel.send,
                     response=response):
                async def beat(address, data):
                    if not getattr(self, f"_refused_{name}s")(address & -self.beat):
                        return await access(address, data)
                    failed[name] = True
                    return random.randbytes(self.beat)

                async def answer(transaction):
                    if failed.pop(name, False):
                        setattr(transaction, response, self._refusal)
                    await send(transaction)
                return beat, answer

            beat, channel.send = wrap()
            setattr(interface, f"_{name}", beat)

    # Rules ----------------------------------------------------------------------------------------

    def _signal(self, name):
        return getattr(self._dut, f"{self._prefix}_{name}")

    async def _check(self, channel):
        """AXI: valid stays until ready, with its payload. Ours: whole beats of one line, INCR."""
        valid, ready = self._signal(channel + "valid"), self._signal(channel + "ready")
        fields = [self._signal(channel + field) for field in STABLE[channel]]
        clock, reset, waiting = self._dut.sys_clk, self._dut.sys_rst, None
        while True:
            if waiting is None and not int(valid.value):
                await RisingEdge(valid)  # a check in each clock would take longer than the rest
            await RisingEdge(clock)
            if int(reset.value):
                waiting = None
                continue
            if not int(valid.value):
                assert waiting is None, f"{channel}valid fell before {channel}ready"
                continue
            payload = tuple(int(field.value) for field in fields)
            assert waiting in (None, payload), f"{channel}: payload changed before ready"
            waiting = None if int(ready.value) else payload
            if channel != "w" and int(ready.value):
                self._accept(channel, *payload)

    def _accept(self, channel, address, last_beat):
        assert int(self._signal(channel + "burst").value) == 1, f"{channel}: not an INCR burst"
        assert int(self._signal(channel + "size").value) == self.beat.bit_length() - 1, \
            f"{channel}: not {self.beat} bytes a beat"
        assert address % self.beat == 0, f"{channel}: {address:#x} is not aligned"
        last = address + (last_beat + 1)*self.beat - 1
        assert address // LINE == last // LINE, f"{channel}: {address:#x}..{last:#x} leaves a line"
        self.bursts.append((channel, address, last_beat + 1))


def _coin(rng, probability):
    while True:
        yield rng.random() < probability
