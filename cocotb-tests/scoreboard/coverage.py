# SPDX-License-Identifier: BSD-2-Clause
"""Bins that random frames must hit: main.cpp counts them by name.

COMMON are bins of any MAC, OPTIONS of a MAC with options; RARE need a million frames.
"""

COMMON = [
    # The fate of a received frame.
    *(f"rx: {fate}" for fate in ("good", "undersize", "oversize", "wrong FCS", "filtered")),
    "rx: marked by the PHY", "rx: memory returns an error", "rx: does not fit its buffer",
    "rx: the FIFO is full", "rx: the ring is empty",
    # Its properties.
    *(f"rx: length mod 8 = {n}" for n in range(8)),
    "rx: the shortest", "rx: the longest", "rx: multicast", "rx: broadcast", "rx: a tag stays",
    # Sent frames: alignment of both ends in memory words, and of the end in words of the wire.
    *(f"tx: length mod 4 = {length}, address mod 8 = {address}" for length in range(4)
      for address in range(8)),
    "tx: padded", "tx: the longest", "tx: an illegal length", "tx: memory returns an error",
    # Rings and memory.
    "rx: the ring wraps", "tx: the ring wraps", "stopped under traffic", "halted",
    *(f"halt: {ring} {what}" for ring in ("Rx", "Tx") for what in ("descriptors", "status")),
    "memory: pauses", "memory: late",
    *(f"set: {name} {state}" for name in ("promiscuous", "allmulti") for state in ("on", "off")),
]

OPTIONS = [
    *(f"set: {name} {state}" for name in ("strip", "filter", "insert", "obey", "ask", "urgent")
      for state in ("on", "off")),
    # VLAN tags.
    *(f"rx: without its tag, length mod 8 = {n}" for n in range(8)),
    "rx: the shortest, without its tag", "rx: the longest, without its tag", "rx: two tags",
    "rx: priority only", "rx: of another VLAN", "rx: of a member's VLAN", "tx: a tag",
    "tx: padded, with a tag",
    # Checksums.
    "tx: a checksum", "tx: a checksum and a tag", "tx: half a checksum", "tx: a checksum of nothing",
    "tx: a checksum beyond the end",
    # Pause and urgent frames.
    "rx: pause", "rx: other control", "rx: control after a tag", "rx: urgent",
    "pause: the other end has to stop", "pause: it may go on",
]

RARE = ["rx: the index wraps", "tx: the index wraps"]
