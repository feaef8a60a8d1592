# SPDX-License-Identifier: BSD-2-Clause
"""Progress of slow steps on standard error: name, usual duration, time taken."""

import contextlib
import os
import sys
import threading
import time
from typing import TextIO

uncaptured = contextlib.nullcontext  # around each print: pytest suspends its capture here


def redraws(stream: TextIO) -> bool:
    """Whether the stream is a terminal with escape sequences, and its user allows them
    (https://no-color.org)."""
    return (
        stream.isatty() and os.environ.get("TERM", "dumb") != "dumb" and not os.environ.get("NO_COLOR")
    )


@contextlib.contextmanager
def step(what: str, note: str = ""):
    """Print `what` (with `note`, usually its duration) at the start, and the time taken at the end.

    A terminal counts the seconds; a file or pipe gets one line at the start and one at the end.
    """
    start = time.monotonic()
    line = f"moderato: {what}" + (f" ({note})" if note else "")
    done = threading.Event()
    live = redraws(sys.stderr)

    def say(text: str, end: str = "\n"):
        with uncaptured():
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
