# SPDX-License-Identifier: BSD-2-Clause
"""What chapters are made from: trials and profiles, and what follows from them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from . import answers, model, paper
from .answers import Cell, Throughput
from .profiles import Profiles
from .records import Records


@dataclass(frozen=True)
class Material:
    trials: Records
    profiles: Profiles

    @cached_property
    def throughputs(self) -> Mapping[Cell, Throughput]:
        return answers.throughputs(self.trials.of("steady"))

    @cached_property
    def models(self) -> Mapping[str, model.Model]:
        return answers.models(self.throughputs)

    @cached_property
    def curves(self) -> Mapping[Cell, list[dict]]:
        """Records at rising loads, those of searches among them."""
        return answers.curves(self.trials.of("loss") + self.trials.of("steady"))

    def full_load(self, frame_bytes: int = paper.FULL_LOAD_BYTES) -> Mapping[str, dict]:
        """By variant."""
        return answers.full_load(answers.curves(self.trials.of("loss")), frame_bytes)
