# SPDX-License-Identifier: BSD-2-Clause
"""Addresses of the bench: the router's ports, and the tester's stations beyond each (RFC 2544, C.2)."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Station:
    mac:  str
    ipv4: str


ROUTER = tuple(Station(f"02:4d:6f:64:00:0{port}", f"198.{18 + port}.0.1") for port in range(2))
TESTER = tuple(Station(f"02:54:73:74:00:0{port}", f"198.{18 + port}.0.2") for port in range(2))
