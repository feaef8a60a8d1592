# SPDX-License-Identifier: BSD-2-Clause
"""Limits of the simulator's protocol; the command line has the same ones."""

MAX_STREAMS = 4096  # of a port: each needs a UDP source port for each port of the device
MAX_CONNECTIONS = 64
MIN_WINDOW, MAX_WINDOW = 2048, 16 << 20  # octets of TCP's receive window


def constants() -> str:
    """The same as C++ constants."""
    return f"""constexpr uint64_t kMostStreams = {MAX_STREAMS}, kMostConnections = {MAX_CONNECTIONS};
constexpr uint64_t kLeastWindow = {MIN_WINDOW}, kMostWindow = {MAX_WINDOW};"""
