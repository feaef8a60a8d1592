# SPDX-License-Identifier: BSD-2-Clause
"""Addresses of the bench: the router's ports, and the tester's stations at them (RFC 2544, C.2)."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Station:
    mac: str
    ipv4: str


ROUTER = tuple(Station(f"02:4d:6f:64:00:0{port}", f"198.{18 + port}.0.1") for port in range(2))
TESTER = tuple(Station(f"02:54:73:74:00:0{port}", f"198.{18 + port}.0.2") for port in range(2))
# Two boxes joined by a wire: port 1 of the first, and port 0 of the second, which has other MAC
# addresses.
WIRE = (Station("02:4d:6f:64:00:01", "198.18.1.1"), Station("02:4d:6f:64:01:00", "198.18.1.2"))
BEYOND = Station("02:4d:6f:64:01:01", "198.19.0.1")  # port 1 of the second
