# SPDX-License-Identifier: BSD-2-Clause
"""Frames for the tests, made by scapy where their content matters."""

import random

from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Raw

from bench.driver import STATION

TESTER = bytes.fromhex("025473740000")
BROADCAST = bytes(6 * [0xFF])


def _mac(address):
    return ":".join(f"{octet:02x}" for octet in address)


def udp(length, destination=STATION, serial=0, tos=0):
    """A UDP packet of the benchmarking network in a frame of `length` octets without FCS."""
    head = Ether(dst=_mac(destination), src=_mac(TESTER)) / \
        IP(src="198.18.0.2", dst="198.19.0.2", id=serial & 0xFFFF, tos=tos) / UDP(sport=9, dport=9)
    packet = head / Raw(random.randbytes(length - len(head)))
    return bytes(packet)


def plain(length, destination=STATION):
    """A frame of `length` octets without FCS and with random content: cheap, any length from 14."""
    return destination + TESTER + random.randbytes(length - 12)
