# SPDX-License-Identifier: BSD-2-Clause
"""A Wishbone slave for the DMA: a RAM with an adjustable delay, which checks the rules of B4."""

import random

import cocotb
from cocotb.triggers import RisingEdge

from bench.memory.memory import LINE

CLASSIC, INCREMENTING, END = 0, 2, 7  # CTI


class Ram:
    """The test reads and writes its contents."""

    def __init__(self, size):
        self.octets = bytearray(size)

    def read(self, address, length):
        return bytes(self.octets[address:address + length])

    def write(self, address, data):
        self.octets[address:address + len(data)] = data


class WishboneMemory:
    """RAM at `prefix` of the device: what bench.memory.memory.Memory is on AXI.

    `counting`: in a burst it counts the address itself and responds in each clock, like LiteX's RAM
    with `bursting`. Otherwise each access takes two clocks and uses the bus's address.
    `accesses`: number of accesses that it answered; `cycles`: how often CYC rose.
    """

    def __init__(self, dut, prefix="wb", size=2**20, counting=True):
        self.ram = Ram(size)
        self.accesses = self.cycles = 0
        self._dut, self._prefix, self._counting = dut, prefix, counting
        self._width = len(self._signal("dat_w")) // 8
        self._random, self._pause, self._stopped = random.Random(0), 0.0, False
        self.refuse()
        for name in ("ack", "err", "dat_r"):
            self._signal(name).value = 0
        cocotb.start_soon(self._serve())

    def _signal(self, name):
        return getattr(self._dut, f"{self._prefix}_{name}")

    def slow(self, probability, seed=0):
        """In each clock, the RAM does not respond with this probability."""
        self._random, self._pause = random.Random(seed), probability

    def starve(self, stopped):
        """Memory answers nothing while stopped."""
        self._stopped = stopped

    def refuse(self, reads=None, writes=None, answer=None):
        """From now on, accesses to addresses that these functions select return ERR."""
        self._refused_reads = reads or (lambda address: False)
        self._refused_writes = writes or (lambda address: False)

    async def _serve(self):
        names = ("cyc", "stb", "we", "adr", "sel", "cti", "dat_w")
        cyc, stb, *fields = [self._signal(name) for name in names]
        ack, err, dat_r = (self._signal(name) for name in ("ack", "err", "dat_r"))
        clock, reset = RisingEdge(self._dut.sys_clk), self._dut.sys_rst
        asked    = None   # an access that waits for its response
        expected = None   # the address that a burst must have next
        offered  = None   # the access whose answer is on the bus
        was_cyc  = False
        broken   = False  # an ERR inside a burst: a slave that counts must see the end of the cycle
        while True:
            await clock
            if int(reset.value):
                continue
            cycle, strobe = int(cyc.value), int(stb.value)
            assert cycle or not strobe, "STB without CYC"
            assert not (broken and cycle), "a burst continues after ERR"
            broken = False
            self.cycles += cycle and not was_cyc
            if was_cyc and not cycle:
                assert expected is None, "CYC fell within a burst"
            was_cyc = bool(cycle)
            if not strobe:
                assert asked is None, "STB fell before a response"
                assert offered is None or offered[-1], "a response without an access"
                continue
            we, adr, sel, cti, data = access = tuple(int(field.value) for field in fields)
            address = adr*self._width
            if not we:
                access = access[:-1]
            assert asked in (None, access), "an access changed before its response"
            if asked is None:
                self._check(address, sel, cti, expected)
            asked = access
            if offered is not None and (offered[0] == address or not offered[-1]):
                # Answered in this clock.
                assert offered[0] == address, "the access differs from the answered one"
                failed = int(err.value)
                self.accesses += 1
                if we and not failed:
                    self._store(address, sel, data)
                expected = address + self._width if cti == INCREMENTING and not failed else None
                broken = cti == INCREMENTING and failed
                asked = offered = None
                ack.value = err.value = 0
                # The next access of a burst may be answered before the slave sees it, except for a
                # write's data.
                if expected is None or we or not self._counting or self._pauses():
                    continue
                offered = (expected, True)
                self._offer(expected, we, ack, err, dat_r)
                continue
            if offered is None and not self._pauses():
                offered = (address, False)
                self._offer(address, we, ack, err, dat_r)

    def _pauses(self):
        return self._stopped or self._random.random() < self._pause

    def _offer(self, address, we, ack, err, dat_r):
        refused = (self._refused_writes if we else self._refused_reads)(address)
        ack.value, err.value = int(not refused), int(refused)
        word = self._random.randbytes(self._width) if refused else self.ram.read(address, self._width)
        dat_r.value = 0 if we else int.from_bytes(word, "little")

    def _store(self, address, sel, data):
        for lane, octet in enumerate(data.to_bytes(self._width, "little")):
            if sel >> lane & 1:
                self.ram.octets[address + lane] = octet

    def _check(self, address, sel, cti, expected):
        assert sel == (1 << self._width) - 1, f"{address:#x}: not a whole word"
        assert cti in (CLASSIC, INCREMENTING, END), f"{address:#x}: CTI {cti}"
        assert expected in (None, address), f"{address:#x}, not {expected:#x}, follows"
        if cti == INCREMENTING:
            assert (address + self._width) % LINE, f"{address:#x}: a burst leaves its line"
