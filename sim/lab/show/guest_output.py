# SPDX-License-Identifier: BSD-2-Clause
"""Prints the guest's output as it arrives. Without output, a terminal shows the simulated time."""

import sys

from moderato.toolchain.progress import redraws


class GuestOutput:
    """Output goes to standard output, the time to standard error; it is removed when the block ends."""

    def __init__(self, sys_clk_hz: int):
        self.sys_clk_hz = sys_clk_hz
        self.start = None
        self.live = redraws(sys.stderr)
        self.in_line = False  # the terminal's line contains output
        self.timed = False  # the terminal's line contains the time

    def __enter__(self) -> "GuestOutput":
        return self

    def __exit__(self, error, *_):
        self._hide()
        if error and self.in_line:  # the error's message needs a line of its own
            print(flush=True)

    def show(self, piece: str, cycle: int):
        """Print a piece, or show the time if it is empty."""
        if self.start is None:
            self.start = cycle
        if piece:
            self._hide()
            sys.stdout.write(piece)
            sys.stdout.flush()
            self.in_line = sys.stdout.isatty() and not piece.endswith("\n")
        elif self.live and not self.in_line:
            seconds = (cycle - self.start) / self.sys_clk_hz
            print(f"\r\033[Kmoderato: {seconds:.2f} s simulated", end="", file=sys.stderr, flush=True)
            self.timed = True

    def _hide(self):
        if self.timed:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
            self.timed = False
