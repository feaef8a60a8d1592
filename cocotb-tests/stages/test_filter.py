# SPDX-License-Identifier: BSD-2-Clause
"""The address filter against the kernel's ether_crc(), made from zlib's CRC."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles

from bench.models.hashing import hash_bit

DUT = "address_filter"
STATION = bytes.fromhex("024d6f640000")
OTHERS = [bytes.fromhex("024d6f640030"), bytes.fromhex("06a5c3960f01")]
BROADCAST = bytes(6 * [0xFF])


def as_port(octets):
    return int.from_bytes(octets, "little")


class Bench:
    @classmethod
    async def start(cls, dut, hash=0, promiscuous=0, allmulti=0):
        bench = cls()
        bench.dut = dut
        Clock(dut.sys_clk, 10, unit="ns").start()
        dut.sys_rst.value = 1
        dut.start.value = 0
        dut.station.value = as_port(STATION)
        for number, other in enumerate(OTHERS):
            getattr(dut, f"other{number}_address").value = as_port(other)
            getattr(dut, f"other{number}_on").value = 0
        dut.hash.value, dut.promiscuous.value, dut.allmulti.value = hash, promiscuous, allmulti
        await ClockCycles(dut.sys_clk, 2)
        dut.sys_rst.value = 0
        return bench

    async def ask(self, destination):
        self.dut.destination.value = as_port(destination)
        self.dut.start.value = 1
        await ClockCycles(self.dut.sys_clk, 1)
        self.dut.start.value = 0
        self.dut.destination.value = random.getrandbits(48)
        await ClockCycles(self.dut.sys_clk, 7)
        assert int(self.dut.multicast.value) == destination[0] & 1
        assert int(self.dut.broadcast.value) == (destination == BROADCAST)
        return bool(self.dut.accept.value)


def near(destination):
    """Every address that differs from `destination` in one bit."""
    return [(as_port(destination) ^ 1 << bit).to_bytes(6, "little") for bit in range(48)]


def groups(count):
    """Random group addresses."""
    for _ in range(count):
        address = bytearray(random.randbytes(6))
        address[0] |= 1
        yield bytes(address)


@cocotb.test()
async def station_and_broadcast_only(dut):
    bench = await Bench.start(dut)
    assert await bench.ask(STATION) and await bench.ask(BROADCAST)
    for other in near(STATION) + near(BROADCAST) + OTHERS:
        assert not await bench.ask(other), other.hex()


@cocotb.test()
async def station_address_is_live(dut):
    bench = await Bench.start(dut)
    other = bytes.fromhex("025473740000")
    dut.station.value = as_port(other)
    assert await bench.ask(other) and not await bench.ask(STATION)


@cocotb.test()
async def accepts_enabled_further_addresses(dut):
    bench = await Bench.start(dut)
    for on in ([], [0], [1], [0, 1]):
        for number in range(len(OTHERS)):
            getattr(dut, f"other{number}_on").value = int(number in on)
        for number, other in enumerate(OTHERS):
            assert await bench.ask(other) == (number in on)
            for wrong in near(other):
                assert not await bench.ask(wrong), wrong.hex()
        assert await bench.ask(STATION)
    dut.other1_address.value = as_port(STATION)
    assert await bench.ask(STATION) and not await bench.ask(OTHERS[1])


@cocotb.test()
async def hash_uses_bits_of_ether_crc(dut):
    """With one bit set, only the addresses that hash to it pass."""
    bench = await Bench.start(dut)
    wanted = list(groups(60)) + [bytes.fromhex("01005e000001"), bytes.fromhex("333300000001")]
    for address in wanted:
        dut.hash.value = 1 << hash_bit(address)
        assert await bench.ask(address), address.hex()
        dut.hash.value = ~(1 << hash_bit(address)) & (2**64 - 1)
        assert not await bench.ask(address), address.hex()


@cocotb.test()
async def hash_is_for_groups_only(dut):
    bench = await Bench.start(dut, hash=2**64 - 1)
    for address in groups(20):
        assert await bench.ask(address)
    for address in near(STATION)[1:]:  # bit 0 makes it a group
        assert not await bench.ask(address)


@cocotb.test()
async def allmulti_takes_every_group(dut):
    bench = await Bench.start(dut, allmulti=1)
    for address in groups(20):
        assert await bench.ask(address)
    assert not await bench.ask(bytes.fromhex("025473740000"))


@cocotb.test()
async def promiscuous_takes_all(dut):
    bench = await Bench.start(dut, promiscuous=1)
    for address in [*near(STATION), *groups(10), BROADCAST, STATION]:
        assert await bench.ask(address)
