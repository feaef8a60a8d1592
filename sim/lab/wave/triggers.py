# SPDX-License-Identifier: BSD-2-Clause
"""Triggers of a wave: KIND:PORT, KIND at either port, or function:NAME."""

FUNCTION = "function"  # entry into a function of the guest
DROP = "drop"  # of any kind
KINDS = (
    "frame-in",
    "frame-out",
    "rx-interrupt",
    "tx-interrupt",
    "rx-completed",
    "tx-completed",
    "rx-drop-ring",
    "rx-drop-fifo",
    "rx-drop-error",
    "rx-drop-filter",
    DROP,
)
