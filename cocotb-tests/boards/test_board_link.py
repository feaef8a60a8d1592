# SPDX-License-Identifier: BSD-2-Clause
"""The Versa with `--link negotiated`: Linux reads the PHY chips over MDIO, and the MACs follow
them.

Linux' seconds are tenths here (board_soc.py), because phylib polls once a second.
"""

import cocotb
import pytest
from cocotb.triggers import ClockCycles
from scapy.layers.inet import ICMP, IP
from scapy.layers.l2 import Ether
from scapy.packet import Raw

from bench.devices.board import simulator
from bench.wires.box import IPV4, PROMPT, Box, report
from bench.wires.phy_chip import PhyChip
from bench.wires.wire import RgmiiRatesWire, add_fcs

DUT = "board"
ADDRESSES = 1, 3  # of the chips: the kernel must find them


def SIMULATOR():
    return simulator("versa_ecp5", "linux", "negotiated")


class Guest:
    def __init__(self, box):
        self.console = box.console

    async def run(self, command: str, ms=4000) -> str:
        """Runs a command in the guest; returns its output."""
        await self.console.write(f"{command}\n")
        return await self.console.expect(PROMPT, ms)

    async def carrier(self, wanted: int):
        """Waits until eth0 has a carrier, or has none."""
        await self.run(f"until grep -q {wanted} /sys/class/net/eth0/carrier; do sleep 0.2; done")

    async def ethtool(self, port: int) -> dict[str, str]:
        """ethtool's report on the port: lists of modes continue in further lines."""
        said, name = {}, None
        for line in (await self.run(f"ethtool eth{port}")).splitlines():
            if ": " in line:
                name, _, value = line.partition(":")
                said[name := name.strip()] = value.strip()
            elif name and line.startswith("\t"):
                said[name] += f" {line.strip()}"
        return said


async def ping(wire, number: int):
    """The guest answers one ping of each length, in order."""
    for length in (60, 61, 1514):
        echo = Ether(dst="02:4d:6f:64:00:00", src="02:54:73:74:00:00") / IP(
            src="198.18.0.2", dst="198.18.0.1") / ICMP(id=number)
        echo /= Raw(bytes(n & 255 for n in range(length - len(echo))))
        wire.send(add_fcs(bytes(echo)))
        while True:
            frame = await wire.receive(us=40_000)
            if frame[12:14] == IPV4 and Ether(frame)[IP].proto == 1:
                break
        answer = Ether(frame)
        assert answer[ICMP].type == 0 and answer[ICMP].id == number
        assert bytes(answer[ICMP].payload) == bytes(echo[ICMP].payload)
        assert (answer.dst, answer[IP].dst) == (echo.src, echo[IP].src)


async def at(box, guest, chip, speed: int):
    """The link has this speed: both ethtool and the wire show it."""
    await guest.carrier(1)
    assert chip.speed == speed
    said = await guest.ethtool(0)
    assert said["Speed"] == f"{speed}Mb/s" and said["Duplex"] == "Full", said
    assert said["Link detected"] == "yes" and said["Auto-negotiation"] == "on", said
    box.rate(0, speed)
    box.wires[0].rate(speed)
    box.clocks(True)
    # The MAC finds the rate from the clock.
    await ClockCycles(box.dut.sys_clk, box.wires[0].wake)
    await ping(box.wires[0], speed)
    box.clocks(False)
    report(f"{speed} Mb/s")
    return said


@cocotb.test()
@pytest.mark.slow
async def follows_the_phy(dut):
    box   = Box(dut)
    guest = Guest(box)
    chip, other = (PhyChip(dut, port, address) for port, address in enumerate(ADDRESSES))
    await box.console.expect(PROMPT, ms=8000)
    box.connect(RgmiiRatesWire)
    box.clocks(False)
    await guest.run("insmod /lib/modules/mdio_litex.ko; insmod /lib/modules/moderato.ko")
    await guest.run("/etc/moderato/up static")
    said = await guest.ethtool(0)
    assert said["Link detected"] == "no" and said["Speed"] == "Unknown!", said
    assert said["Supported link modes"] == "10baseT/Full 100baseT/Full 1000baseT/Full", said
    assert said["PHYAD"] == "1", said
    report("interfaces up")

    chip.plug({10, 100, 1000})
    said = await at(box, guest, chip, 1000)
    assert said["Link partner advertised link modes"] == (
        "10baseT/Full 100baseT/Full 1000baseT/Full"), said

    chip.unplug()
    await guest.carrier(0)
    said = await guest.ethtool(0)
    assert said["Link detected"] == "no" and said["Speed"] == "Unknown!", said

    chip.plug({10, 100})
    said = await at(box, guest, chip, 100)
    assert said["Link partner advertised link modes"] == "10baseT/Full 100baseT/Full", said

    await guest.run("ethtool -s eth0 advertise 0x002")  # 10baseT/Full
    said = await at(box, guest, chip, 10)
    assert said["Advertised link modes"] == "10baseT/Full", said

    said = await guest.ethtool(1)
    assert said["Link detected"] == "no" and said["PHYAD"] == "3", said
    assert other.speed == 0
