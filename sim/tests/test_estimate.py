# SPDX-License-Identifier: BSD-2-Clause
"""The announced duration of a command."""

import pytest

from moderato.sim.lab.measure import estimate
from moderato.sim.lab.run.system import System
from moderato.sim.lab.show.errors import UsageError


@pytest.fixture(autouse=True)
def one_core(monkeypatch):
    monkeypatch.setattr(estimate.os, "sched_getaffinity", lambda _: {0})


@pytest.mark.parametrize(
    "times, seconds", [([], 0), ([5], 0), ([0, 0.01, 0.02, 1.04, 1.03], 0.99), ([60, 0], 59.98)]
)
def test_gaps_of_a_capture(times, seconds):
    assert estimate.gaps(times) == pytest.approx(seconds)


def test_idle_time_passes_quickly(capsys):
    """599 s in which the guest waits do not take hours; 600 s of work do."""
    estimate.announce([600], False, System(), "play less", idle=599)
    assert capsys.readouterr().err.startswith(
        "moderato: 1 trial, 600 s of simulated time, about 15 min 13 s "
    )
    with pytest.raises(UsageError, match="takes about 21 h 40 min; play less, or add --yes"):
        estimate.announce([600], False, System(), "play less")


@pytest.mark.parametrize("number, says", [(1, "about 1 trial, 0.1 s "), (2, "about 2 trials, 0.2 s ")])
def test_a_number_and_its_noun(capsys, number, says):
    estimate.announce_searches([0.1] * number, False, System())
    assert says in capsys.readouterr().err


@pytest.mark.parametrize(
    "made, says", [(False, "after about 8 minutes of builds"), (True, "once the machine")]
)
def test_first_run_announces_its_builds(capsys, monkeypatch, tmp_path, made, says):
    monkeypatch.setenv("MODERATO_CACHE", str(tmp_path))
    if made:
        (tmp_path / "linux").mkdir()
    estimate.announce([0.1], False, System(), "play less")
    assert says in capsys.readouterr().err
