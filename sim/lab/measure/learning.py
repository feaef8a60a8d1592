# SPDX-License-Identifier: BSD-2-Clause
"""Learning frames (RFC 2544, 23): sent before a trial, so that the device learns the flows.

They are for variants that hand flows to the hardware after the first frames. Measurements begin
afterwards.
"""

import math
from collections.abc import Iterable

from ..run.session import Session
from ..run.variants import ALL
from ..show.errors import LabError
from .results import frame_rate
from .traffic import SEED, Traffic, quiet, timeout

PER_FLOW, LEAST = 8, 32  # frames of each flow, and the least number of frames, into each port
RATE = 4000  # frames/s into each port: far below what the CPU can forward


def hands_over(variant: str) -> bool:
    return variant in ALL and ALL[variant].hands_over


def learn(
    session: Session,
    sys_clk_hz: int,
    frame_bytes: int,
    link_mbps: int,
    traffic: Traffic,
    settings: Iterable[str] = (),
):
    """Send each flow's first frames slowly, so that the hardware takes the flow over, if it has room.
    `settings`: as for trial.request(). Raises LabError if the guest does not become quiet."""
    line_rate = frame_rate(frame_bytes, 100, link_mbps)
    load = min(100, 100 * RATE / line_rate)
    frames = max(PER_FLOW * traffic.streams, LEAST)
    clocks = math.ceil(sys_clk_hz * frames / frame_rate(frame_bytes, load, link_mbps))
    offer = {"frame_bytes": frame_bytes, "load_percent": load, "frames": frames}
    reply = session.call(
        "trial",
        ports=traffic.offers(offer, clocks / frames / 2),
        link_mbps=link_mbps,
        seed=SEED,
        quiet_cycles=quiet(sys_clk_hz, settings),
        max_cycles=clocks + timeout(sys_clk_hz),
    )
    if not reply["quiet"]:  # remaining frames would count for the trial
        raise LabError(
            "it did not become quiet after all learning frames were offered, so no trial can begin"
        )
