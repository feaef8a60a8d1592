# SPDX-License-Identifier: BSD-2-Clause
"""RFC 2544: throughput, latency, frame loss, back-to-back frames, recovery and reset."""

SEARCHES = {"throughput", "latency", "recovery", "reset"}  # they need a throughput
