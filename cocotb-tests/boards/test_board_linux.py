# SPDX-License-Identifier: BSD-2-Clause
"""The Versa's whole SoC with its PHYs boots Linux, which forwards packets as a router."""

import random
import re

import cocotb
import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Raw

from bench.devices.board import simulator
from bench.wires.box import IPV4, PORTS, PROMPT, Box, report
from bench.wires.wire import add_fcs

DUT = "board"

LENGTHS = [60, 61, 62, 63, 64, 65, 128, 594, 1513, 1514]


def SIMULATOR():
    return simulator("versa_ecp5", "linux")


def packet(port: int, length: int) -> Ether:
    """A frame of `length` octets from the tester at `port` to the tester at the other one."""
    head = (Ether(dst=f"02:4d:6f:64:00:0{port}", src=f"02:54:73:74:00:0{port}") /
            IP(src=f"198.{18 + port}.0.2", dst=f"198.{19 - port}.0.2", ttl=64) / UDP(dport=9))
    return Ether(bytes(head / Raw(random.randbytes(length - len(head)))))


def routed(sent: Ether, port: int) -> bytes:
    """The packet as RFC 1812 requires a router to forward it."""
    frame = sent.copy()
    frame.src, frame.dst = f"02:4d:6f:64:00:0{1 - port}", f"02:54:73:74:00:0{1 - port}"
    frame[IP].ttl -= 1
    del frame[IP].chksum
    return bytes(frame)


async def next_packet(wire) -> bytes:
    """The next IPv4 frame; the kernel also sends other frames."""
    while True:
        frame = await wire.receive(us=20_000)
        if frame[12:14] == IPV4:
            return frame


@cocotb.test()
@pytest.mark.slow
async def routes_both_ways(dut):
    """Boots, loads the driver, forwards. The PHYs have no clock until frames arrive."""
    box = Box(dut)
    boot = await box.console.expect(PROMPT, ms=4000)
    assert "BIOS CRC passed" in boot
    report("shell")

    await box.console.write("cd /sys/bus/platform/drivers\n")
    await box.console.expect(PROMPT, ms=1000)
    await box.console.write("insmod /lib/modules/moderato.ko; ls moderato\n")
    probed = await box.console.expect(PROMPT, ms=2000)
    found = re.findall(r"f\w+(?=\.ethernet)", probed)
    assert sorted(found) == ["f1000000", "f1001000"], probed
    await box.console.write("/etc/moderato/up static\n")
    await box.console.expect(PROMPT, ms=4000)
    report("interfaces up")

    box.connect()
    packets = [[packet(port, length) for length in LENGTHS] for port in range(PORTS)]
    for wire, burst in zip(box.wires, packets):
        for frame in burst:
            wire.send(add_fcs(bytes(frame)))
    for port, burst in enumerate(packets):
        for number, sent in enumerate(burst):
            left = await next_packet(box.wires[not port])
            assert left == routed(sent, port), f"frame {number} of port {port}: {Ether(left)!r}"
    report("forwarded")
