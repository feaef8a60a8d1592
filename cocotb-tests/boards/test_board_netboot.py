# SPDX-License-Identifier: BSD-2-Clause
"""LiteX's BIOS on the Versa's SoC boots over TFTP, with our MAC (soc/firmware/netboot)."""

import json
import random
import re

import cocotb
from cocotb.triggers import Timer
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Raw

from bench.devices.board import simulator, verilog
from bench.wires.box import Box
from bench.devices.netboot_files import files
from bench.wires.tftp import BROADCAST, CLIENT, SERVER, SERVER_MAC, TftpServer
from bench.wires.wire import add_fcs

DUT  = "board"
SLOW = ""

BOARD   = "versa_ecp5"
STOPPED = {"control": 0, "status": 3}  # not enabled; both rings are idle
LENGTHS = [60, 64, 65, 594, 1514]


def SIMULATOR():
    return simulator(BOARD, "network")


def fnv_1a(octets: bytes) -> int:
    value = 2166136261
    for octet in octets:
        value = (value ^ octet) * 16777619 % 2**32
    return value


async def probe(box: Box) -> dict[str, int]:
    """The report of bench/devices/probe.c."""
    await box.console.write("?")
    line = await box.console.expect("\r\n", ms=100)
    return {name: int(value, 16) for name, value in re.findall(r"(\w+) (\w{8})\b", line)}


def check_stopped(told: dict[str, int]):
    assert {name: told[name] for name in STOPPED} == STOPPED, told
    assert told["moderation"] == 0, "an interrupt is armed or pending"


def late_frames(mac: str) -> list[bytes]:
    """More frames than the ring has slots, for the board and as broadcasts."""
    return [bytes(Ether(dst=dst, src=SERVER_MAC) / IP(src=SERVER, dst=CLIENT) / UDP(dport=7642) /
                  Raw(random.randbytes(200))) for dst in 4 * (mac, BROADCAST)]


@cocotb.test()
async def boots_over_tftp(dut):
    """The cable is plugged in after the first ARP request. A block and an acknowledgment are lost.

    The loaded files are correct, no DMA continues in the booted program, and another program can
    start the MAC again.
    """
    box  = Box(dut)
    soc  = json.loads((verilog(BOARD, "network", "fixed") / "soc.json").read_text())
    data = random.randbytes(10 << 10)
    await box.console.expect("Booting from boot.json...", ms=100)
    await Timer(1, "ms")
    box.connect()
    port   = box.wires[0]
    server = TftpServer(port, files(soc, data), lose={("data.bin", 3)}, ignore={("data.bin", 7)})
    await box.console.expect("Liftoff!", ms=1000)
    await box.console.expect("probe\r\n", ms=20)
    assert server.requested == ["boot.json", "data.bin", "forward.bin", "probe.bin"]
    assert server.resent == [("data.bin", 3), ("data.bin", 7)]

    server.stop()

    before = await probe(box)
    assert before["data"] == fnv_1a(data)
    check_stopped(before)
    for frame in late_frames(server.client_mac):
        port.send(add_fcs(frame))
    await port.sent()
    assert await probe(box) == before, "a frame was written to memory"

    await box.console.write("j")
    await box.console.expect("forwards between its two ports.\r\n", ms=20)
    for sender, receiver in box.wires, reversed(box.wires):
        for length in LENGTHS:
            frame = random.randbytes(length)
            sender.send(add_fcs(frame))
            assert await receiver.receive() == frame
