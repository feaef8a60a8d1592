# SPDX-License-Identifier: BSD-2-Clause
"""The loads for comparing strategies: nearly idle, up to overload, and in bursts."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from ..measure.results import Trial, frame_rate

KIND = "strategy"  # the kind of these records
LINK_MBPS = 100
SECONDS = 0.2  # of simulated time, at least
FEWEST = 300  # offered to each port, at least: p99 is the third largest latency of 300
BURST = 32  # number of frames at the minimum gap
PROBES = 100  # number of probes at each port, in situations with probes
PROBE_EVERY = 50  # one probe in this many frames
PING = "ping"  # the situation with round trips; all others offer frames
OVERLOAD = 100  # percent of the line rate


@dataclass(frozen=True)
class Situation:
    """A load: `fps` frames/s of both ports together, or a `share` of napi-full's throughput, or else the
    line rate. burst: number of frames at the minimum gap before each pause. probe_every: one frame in
    this many is marked, and only marked frames' latency counts. settings: names of the settings that run
    in it; none: all."""

    name: str
    says: str
    fps: float | None = None
    share: float | None = None
    burst: int = 0
    probe_every: int = 0
    settings: tuple[str, ...] = ()

    def has(self, setting: str) -> bool:
        return not self.settings or setting in self.settings

    def load_percent(self, frame_bytes: int, throughput: float) -> float:
        """In percent of each port's line rate. `throughput`: frames/s of both ports that napi-full
        sustains."""
        rate = self.fps or self.share and self.share * throughput
        if rate is None:
            return OVERLOAD
        return round(100 * rate / 2 / frame_rate(frame_bytes, 100, LINK_MBPS), 4)

    def trial(self, setting: str, frame_bytes: int, throughput: float) -> Trial:
        load = self.load_percent(frame_bytes, throughput)
        count = max(FEWEST, math.ceil(frame_rate(frame_bytes, load, LINK_MBPS) * SECONDS))
        if self.burst:
            count = self.burst * math.ceil(count / self.burst)
        count = max(count, PROBES * self.probe_every)
        return Trial(
            setting, frame_bytes, load, count, LINK_MBPS, burst=self.burst, probe_every=self.probe_every
        )


SITUATIONS: Mapping[str, Situation] = {
    situation.name: situation
    for situation in (
        Situation(PING, "a round trip each 10 ms"),
        Situation("idle", "1000 frames/s", fps=1000),
        Situation("10%", "10 % of the throughput", share=0.1),
        Situation("50%", "50 % of the throughput", share=0.5),
        Situation("90%", "90 % of the throughput", share=0.9),
        Situation(
            "bursts", f"30 % of the throughput, in bursts of {BURST} frames", share=0.3, burst=BURST
        ),
        Situation(
            "urgent",
            f"50 % of the throughput, each {PROBE_EVERY}th frame marked as urgent",
            share=0.5,
            probe_every=PROBE_EVERY,
            settings=("napi-full", "hw-moderated 10 ms", "hw-moderated 10 ms, urgent"),
        ),
        Situation("overload", "the line rate"),
    )
}
