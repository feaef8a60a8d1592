# SPDX-License-Identifier: BSD-2-Clause
"""One line of progress for many jobs: `moderato: 3 of 12 trials, 40 s, 2 min left: napi 64 41 %`."""

import sys
import threading
import time

from moderato.toolchain.progress import redraws

from .columns import width


class Progress:
    """Writes to standard error: on a terminal a live line, else a line per finished job."""

    def __init__(self, what: str, total: int):
        self.what, self.total, self.finished, self.known = what, total, 0, 0
        self.start = time.monotonic()
        self.shares: dict[str, float] = {}
        self.lock = threading.Lock()
        self.live = redraws(sys.stderr)

    def share(self, name: str, done: float):
        """Report a running job's share done, from 0 to 1. Any thread may call this."""
        with self.lock:
            self.shares[name] = done

    def stop(self, name: str):
        """A job pauses, and is not shown."""
        with self.lock:
            self.shares.pop(name, None)

    def done(self, name: str, known: bool = False):
        """A job has finished. `known`: its result is from an earlier run, and took no time."""
        self.stop(name)
        with self.lock:
            self.finished += 1
            self.known += known
            if not self.live and not known:
                print(f"{self._head()}: {name} done", file=sys.stderr, flush=True)

    def show(self):
        if self.live:
            with self.lock:
                running = ", ".join(f"{name} {share:.0%}" for name, share in self.shares.items())
                limit = width(sys.stderr)  # a longer line would continue in the next one, and stay there
                line = f"{self._head()}: {running}"[: limit and limit - 1]
                print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)

    def end(self):
        if self.live:
            print("\r\033[K" + self._head(), file=sys.stderr, flush=True)

    def _head(self) -> str:
        seconds = time.monotonic() - self.start
        head = f"moderato: {self.finished} of {self.total} {self.what}, {duration(seconds)}"
        new = self.finished - self.known
        if new and self.finished < self.total:
            head += f", {duration(seconds / new * (self.total - self.finished))} left"
        return head


def duration(seconds: float) -> str:
    """`40 s`, `3 min 20 s`, `2 h 5 min`, `12 days`."""
    minutes, rest = divmod(round(seconds), 60)
    hours = minutes // 60
    if hours >= 48:
        return f"{hours // 24} days"
    if hours:
        return f"{hours} h {minutes % 60} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
