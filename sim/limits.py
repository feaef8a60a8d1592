# SPDX-License-Identifier: BSD-2-Clause
"""Limits of the simulator's protocol, which the command line has, too."""

MAX_STREAMS = 4096  # of a port: each has a UDP source port per port of the device
MAX_CONNECTIONS = 64
MIN_WINDOW, MAX_WINDOW = 2048, 16 << 20  # octets of TCP's receive window


def constants() -> str:
    """For C++."""
    return f"""constexpr uint64_t kMostStreams = {MAX_STREAMS}, kMostConnections = {MAX_CONNECTIONS};
constexpr uint64_t kLeastWindow = {MIN_WINDOW}, kMostWindow = {MAX_WINDOW};"""
