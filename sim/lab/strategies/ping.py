# SPDX-License-Identifier: BSD-2-Clause
"""Round trips of datagrams between the guest and the tester, without other traffic."""

import hashlib
import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass

from ..measure.results import LATENCY
from ..run.session import Session
from ..run.state import State
from ..show.errors import LabError
from .settings import SETTINGS
from .situations import KIND, LINK_MBPS, PING

COUNT = 100
PAUSE = 10_000  # us between two on average, not in step with any tick
COMMAND = f"roundtrip -n {COUNT} -i {PAUSE} 198.18.0.2"
MIN_FRAME = 64
CLOCKS = 120_000_000  # approximate duration, for the progress


@dataclass(frozen=True)
class Task:
    """Round trips with one setting."""

    setting: str

    @property
    def name(self) -> str:
        return f"{self.setting} {PING}"

    def key(self, ready: State) -> str:
        """A hash of all that the record depends on."""
        content = json.dumps([ready.folder.name, self.name, COMMAND])
        return hashlib.sha256(content.encode()).hexdigest()[:32]

    def run(self, session: Session, sys_clk_hz: int, progress: Callable[[float], None]) -> dict:
        """The record: the fields that round trips share with a trial."""
        begun = time.monotonic()
        before = session.call("counters")
        session.progress = lambda done: progress(min(1.0, done["cycles"] / CLOCKS))
        returned, latency = parse(session.check(COMMAND))
        figures = self._figures(before, session.call("counters"), returned, sys_clk_hz)
        figures["simulation"] = {"wall_seconds": round(time.monotonic() - begun, 3)}
        return {
            "name": self.name,
            "kind": KIND,
            "setting": self.setting,
            "situation": PING,
            "problems": [],
            **figures,
            "latency_ns": latency,
            "lost": COUNT - returned,
        }

    def _figures(self, before: dict, after: dict, returned: int, sys_clk_hz: int) -> dict:
        """The fields of a trial's record, over all cycles between `before` and `after`."""
        cycles = after["cycle"] - before["cycle"]
        seconds = cycles / sys_clk_hz
        ports = [
            {name: count - old["events"][name] for name, count in new["events"].items()}
            for new, old in zip(after["ports"], before["ports"])
        ]
        rx, tx, received = (
            sum(port[name] for port in ports)
            for name in ("rx_interrupt", "tx_interrupt", "rx_completed")
        )
        idle = sum(after["idle_cycles"]) - sum(before["idle_cycles"])
        here = {"offered": COUNT, "forwarded": returned, "lost": COUNT - returned}
        return {
            "variant": SETTINGS[self.setting].variant,
            "frame_bytes": MIN_FRAME,
            "load_percent": None,
            "link_mbps": LINK_MBPS,
            "sys_clk_hz": sys_clk_hz,
            "cycles": cycles,
            "offered_fps": round(COUNT / seconds, 3),
            "ports": [
                (here if number == 0 else dict.fromkeys(here, 0))
                | {
                    "received": port["rx_completed"],
                    "rx_interrupts": port["rx_interrupt"],
                    "tx_interrupts": port["tx_interrupt"],
                }
                for number, port in enumerate(ports)
            ],
            "interrupts_per_second": round((rx + tx) / seconds, 3),
            "frames_per_interrupt": round(received / rx, 3) if rx else None,
            "throughput": {"fps": round(returned / seconds, 3)},
            "cpu_idle_percent": round(100 * idle / (cycles * len(after["idle_cycles"])), 3),
        }


def parse(output: str) -> tuple[int, dict[str, int]]:
    """The number of replies, and their times in ns, from the output of `roundtrip`."""
    found = re.search(r"^(\d+) of \d+ returned, ns: (\d+) (\d+) (\d+) (\d+)$", output, re.MULTILINE)
    if not found:
        raise LabError(f"the guest's roundtrip says {output.strip()!r}")
    returned, *times = map(int, found.groups())
    return returned, dict(zip(LATENCY, times))
