# SPDX-License-Identifier: BSD-2-Clause
"""The inputs of chapters: trials and profiles, and results derived from them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from . import cell_results, model, paper
from .cell_results import Cell, Throughput
from .profiles import Profiles
from .records import Records


@dataclass(frozen=True)
class Inputs:
    trials: Records
    profiles: Profiles

    @cached_property
    def throughputs(self) -> Mapping[Cell, Throughput]:
        return cell_results.throughputs(self.trials.of("steady"))

    @cached_property
    def models(self) -> Mapping[str, model.Model]:
        return cell_results.models(self.throughputs)

    @cached_property
    def curves(self) -> Mapping[Cell, list[dict]]:
        """Records by rising load, including those of searches."""
        return cell_results.curves(self.trials.of("loss") + self.trials.of("steady"))

    def full_load(self, frame_bytes: int = paper.FULL_LOAD_BYTES) -> Mapping[str, dict]:
        """The records by variant."""
        return cell_results.full_load(cell_results.curves(self.trials.of("loss")), frame_bytes)
