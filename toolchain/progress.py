# SPDX-License-Identifier: BSD-2-Clause
"""Progress of slow steps, on standard error: what is done, how long it takes, how long it took."""

import contextlib
import os
import sys
import threading
import time
from typing import TextIO

beside = contextlib.nullcontext  # around what is said: tests lift their capture of the output


def redraws(stream: TextIO) -> bool:
    """Whether a line can be drawn again: on a terminal that knows escape sequences, unless its user
    wants none (https://no-color.org)."""
    return (
        stream.isatty() and os.environ.get("TERM", "dumb") != "dumb" and not os.environ.get("NO_COLOR")
    )


@contextlib.contextmanager
def step(what: str, note: str = ""):
    """Announce `what` (with `note`, usually its duration), and say how long it took.

    A terminal shows the seconds passing; a file or pipe gets one line at each end.
    """
    start = time.monotonic()
    line = f"moderato: {what}" + (f" ({note})" if note else "")
    done = threading.Event()
    live = redraws(sys.stderr)

    def say(text: str, end: str = "\n"):
        with beside():
            print(text, end=end, file=sys.stderr, flush=True)

    def tick():
        while not done.wait(1):
            say(f"\r{line} ... {time.monotonic() - start:.0f} s", end="")

    say(f"{line} ...", end="" if live else "\n")
    ticker = threading.Thread(target=tick, daemon=True)
    if live:
        ticker.start()
    outcome = "failed after"
    try:
        yield
        outcome = "done in"
    except KeyboardInterrupt:
        outcome = "stopped after"
        raise
    finally:
        done.set()
        if live:
            ticker.join()
        head = "\r" + line if live else f"moderato: {what}"
        say(f"{head}: {outcome} {time.monotonic() - start:.0f} s")
