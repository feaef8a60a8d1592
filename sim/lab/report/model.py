# SPDX-License-Identifier: BSD-2-Clause
"""The paper's model: a frame takes T = T_const + k S, where S is its size in octets with FCS."""

from collections.abc import Mapping
from dataclasses import dataclass

from ..measure.results import frame_rate

PORTS = 2


@dataclass(frozen=True)
class Model:
    constant_us: float
    k_us_per_octet: float

    def us(self, frame_bytes: float) -> float:
        """Time that the device takes for a frame."""
        return self.constant_us + self.k_us_per_octet * frame_bytes

    def mbps(self, frame_bytes: float, link_mbps: int) -> float:
        """Load of each port at which forwarding takes all of the time, at most the line rate: the
        throughput.

        In Mb/s, including preamble and gap.
        """
        rate = 1e6 / self.us(frame_bytes) / PORTS
        return min(1, rate / frame_rate(frame_bytes, 100, link_mbps)) * link_mbps

    def r_squared(self, us: Mapping[int, float]) -> float:
        """Coefficient of determination for times by frame size: 1 is a perfect fit."""
        mean = sum(us.values()) / len(us)
        total = sum((value - mean) ** 2 for value in us.values())
        rest = sum((value - self.us(size)) ** 2 for size, value in us.items())
        return 1 - rest / total if total else float(rest == 0)


def us_per_frame(mbps: float, frame_bytes: int, link_mbps: int) -> float:
    """Time per frame of a device with `mbps` at both ports: the inverse of Model.mbps()."""
    return 1e6 / PORTS / frame_rate(frame_bytes, 100 * mbps / link_mbps, link_mbps)


def fit(us: Mapping[int, float]) -> Model | None:
    """Least squares over times by frame size; None for fewer than three sizes, as any two fit."""
    if len(us) < 3:
        return None
    mean_size, mean = (sum(values) / len(us) for values in (us, us.values()))
    spread = sum((size - mean_size) ** 2 for size in us)
    k = sum((size - mean_size) * (value - mean) for size, value in us.items()) / spread
    return Model(mean - k * mean_size, k)
