# SPDX-License-Identifier: BSD-2-Clause
"""The trials of a report: all of one machine, or of one machine for each compared NIC.

Files of records grow over months, through many commits of gateware and driver, and a table must not mix
machines. The report has the latest machine of each NIC, and compares NICs only with the same kernel, CPU
and memory. Notes list the trials that are left out. Notes also list trials of several commits, or with
uncommitted changes.
"""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from moderato.toolchain.cache import key
from moderato.toolchain.project import DIRTY

from ..ontime.runs import KIND as ON_TIME
from ..run import store
from ..run.system import IDEAL
from ..run.variants import MODERATO
from ..show.errors import LabError, reason
from ..strategies.settings import REFERENCE, SETTINGS
from ..strategies.situations import KIND, SITUATIONS
from ..tcp.transfer import KIND as TCP
from . import forwards, ontime
from .paper import VARIANTS

UNKNOWN = {
    "machine": None,
    "version": "unknown",
    "nic": MODERATO,
    "kernel": None,
    "cpu": None,
    "memory_bytes": None,
    "memory": IDEAL,
    "checkpoint": None,
}  # for records without the field


@dataclass(frozen=True)
class Records:
    trials: list[dict]
    notes: list[str]  # for the reader of the report
    strategies: list[dict] = field(default_factory=list)  # records of `moderato strategies`
    transfers: list[dict] = field(default_factory=list)  # records of `moderato tcp` and `receiver`
    harts: list[dict] = field(default_factory=list)  # trials that compare harts
    hart_transfers: list[dict] = field(default_factory=list)  # transfers on several harts
    forwards: list[dict] = field(default_factory=list)  # trials of `moderato forward`
    ontime: list[dict] = field(default_factory=list)  # records of `moderato ontime`

    @property
    def all(self) -> list[dict]:
        """All records of the report."""
        return [
            *self.trials,
            *self.strategies,
            *self.transfers,
            *self.harts,
            *self.hart_transfers,
            *self.forwards,
            *self.ontime,
        ]

    @property
    def link_mbps(self) -> int:
        return self.trials[0]["task"]["link_mbps"]

    @property
    def variants(self) -> list[str]:
        """Ordered by first trial, with the paper's six before all others."""
        found = dict.fromkeys(trial["task"]["variant"] for trial in self.trials)
        return [name for name in VARIANTS if name in found] + [
            name for name in found if name not in VARIANTS
        ]

    @property
    def frame_sizes(self) -> list[int]:
        return sorted({trial["task"]["frame_bytes"] for trial in self.trials})

    def of(self, *kinds: str) -> list[dict]:
        """The trials of these kinds."""
        return [trial for trial in self.trials if trial["task"]["kind"] in kinds]


def load(files: Sequence[Path]) -> Records:
    """All records of the files without duplicates, as far as they belong together. Also accepts --json
    files of `forward`, `ontime` and `tcp`."""
    found, notes = {}, []
    for file in files:
        if not file.exists():
            raise LabError(
                f"{file} does not exist; make trials with `./moderato rfc2544`, or name "
                "a file of its records with --results"
            )
        lines: list[dict | None] = [*(written(file) or store.lines(file))]
        found |= {record["key"]: record for record in lines if record}
        if None in lines:
            notes.append(f"{lines.count(None)} line(s) of {file.name} are cut off and left out")
    if not found:
        names = ", ".join(str(file) for file in files)
        raise LabError(
            f"there are no records of trials in {names}; make some with "
            "`./moderato rfc2544`, or name another file with --results"
        )
    strategies = [record for record in found.values() if record.get("kind") == KIND]
    transfers = [record for record in found.values() if record.get("kind") == TCP]
    hart_transfers, not_shown = of_last_commit([each for each in transfers if several(each)])
    transfers, left_out = of_last_commit([each for each in transfers if not several(each)])
    notes += left_out + not_shown
    trials = [
        record
        for record in found.values()
        if record.get("kind") not in (KIND, TCP, forwards.KIND, ON_TIME)
    ]
    harts = [trial for trial in trials if _apart(trial)]
    trials = without_reference([trial for trial in trials if not _apart(trial)], strategies)
    chosen, left_out = choose(trials)
    harts, not_shown = _chosen(harts, _of_commit)
    notes += left_out + not_shown + no_single_run(chosen)
    notes += sorted(
        {
            f"trial {trial['name']} is unsound: {problem}"
            for trial in [*chosen, *harts]
            for problem in trial["problems"]
        }
    )
    return Records(
        chosen,
        notes,
        latest(strategies),
        transfers,
        harts,
        hart_transfers,
        [record for record in found.values() if record.get("kind") == forwards.KIND],
        [record for record in found.values() if record.get("kind") == ON_TIME],
    )


def written(file: Path) -> list[dict]:
    """Records of a --json file; an empty list if the file is something else.

    Results of `tcp`, `receiver` and `strategies` are records already. A trial of `forward`, and a record
    of `ontime`, get a key over all fields except the wall-clock time: it is the same in each run.
    """
    try:
        with open(file, "rb") as content:
            if not content.read(64).lstrip().startswith(b"["):
                return []
        found = json.loads(file.read_bytes())
        return [each if "key" in each else _keyed(each) for each in found]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise LabError(
            f"{file} is not what --json of `./moderato forward`, `ontime` or `tcp` wrote "
            f"({reason(error)}); name another file (a profile goes into a "
            "folder for --profiles)"
        ) from error


def _keyed(found: dict) -> dict:
    """A trial of `forward`, or a record of `ontime`, with a key."""
    if found.get("kind") == ON_TIME:
        made, simulation = ontime.record(found), {"traffic": found["traffic"] | {"simulation": None}}
    else:
        made, simulation = forwards.record(found), {"simulation": None}
    return made | {"key": key(made["kind"], [json.dumps(found | simulation, sort_keys=True)])}


def without_reference(trials: Sequence[dict], strategies: Sequence[dict]) -> list[dict]:
    """The trials without those in which `strategies` searched the throughput that its loads refer to. A
    variant with only these trials is not a row of RFC 2544's tables."""

    def of_reference(trial):
        return trial["task"]["variant"] == REFERENCE.variant

    sizes = {trial["task"]["frame_bytes"] for trial in trials if of_reference(trial)}
    alone = sizes <= {record["frame_bytes"] for record in strategies}
    return [trial for trial in trials if not (alone and of_reference(trial))]


def latest(strategies: Sequence[dict]) -> list[dict]:
    """The records with the last one's commit and frame size, ordered by setting and situation."""
    if not strategies:
        return []

    def made(record: dict) -> tuple:
        return conditions(record)["version"], record["frame_bytes"]

    last = made(strategies[-1])
    places = list(SETTINGS), list(SITUATIONS)
    return sorted(
        (record for record in strategies if made(record) == last),
        key=lambda record: (places[1].index(record["situation"]), places[0].index(record["setting"])),
    )


def of_last_commit(transfers: Sequence[dict]) -> tuple[list[dict], list[str]]:
    """The records with the conditions around the last one's NIC: for each NIC and kernel the last
    commit, for each line rate its last machine. Also returns notes on the rest."""

    def kind(record: dict) -> tuple:
        return conditions(record)["nic"], record["kernel"]

    def link(record: dict) -> tuple:
        return *kind(record), record["link_mbps"]

    return _chosen(transfers, _clocked, ((kind, "version"), (link, "machine")))


def several(trial: dict) -> bool:
    """Whether it ran on several harts."""
    cpu = conditions(trial)["cpu"]
    return bool(cpu) and cpu["harts"] > 1


def _apart(trial: dict) -> bool:
    """Whether the trial only compares harts: it ran on several, or had unusual traffic."""
    return several(trial) or "traffic" in trial["task"]


def conditions(trial: dict) -> dict:
    """The conditions of the machine that made a record."""
    return UNKNOWN | trial.get("conditions", {})


def row(record: dict) -> str:
    """The name of a row: the variant, and the NIC unless the variant implies it."""
    nic = conditions(record)["nic"]
    return record["variant"] + f", NIC {nic}" * (nic not in (MODERATO, record["variant"]))


def choose(trials: Sequence[dict]) -> tuple[list[dict], list[str]]:
    """RFC 2544's trials that belong together, and notes on the rest. They share the latest trial's line
    rate and conditions around its NIC. For each NIC the latest machine counts, for each variant the
    latest settings."""
    return _chosen(trials, _around, ((_nic, "machine"), (_variant, "checkpoint")))


def _chosen(
    records: Sequence[dict],
    around: Callable[[dict], tuple],
    latest: Sequence[tuple[Callable[[dict], object], str]] = (),
) -> tuple[list[dict], list[str]]:
    """Records whose `around` equals the last one's, and notes on the rest. `latest`: pairs of functions;
    among records with the same name, only those with the last one's condition count."""
    if not records:
        return [], []
    chosen = [record for record in records if around(record) == around(records[-1])]
    for whose, what in latest:
        last = {whose(record): conditions(record)[what] for record in chosen}
        chosen = [record for record in chosen if conditions(record)[what] == last[whose(record)]]
    kept = {record["key"] for record in chosen}
    others = Counter(_made(record) for record in records if record["key"] not in kept)
    return chosen, [
        f"left out: {count} trial(s) that were made otherwise ({made})" for made, count in others.items()
    ]


def no_single_run(trials: Sequence[dict]) -> list[str]:
    """Notes on trials that belong together, but were not made in one run."""
    versions = dict.fromkeys(conditions(trial)["version"] for trial in trials)
    notes = []
    if len(versions) > 1:
        notes.append(f"the trials are of {len(versions)} commits: {', '.join(versions)}")
    return notes + [
        f"trials of {version} were made with files that are not committed"
        for version in versions
        if version.endswith(DIRTY)
    ]


def _around(trial: dict) -> tuple:
    """The conditions that compared trials must share, whatever their NIC."""
    made = conditions(trial)
    return (
        trial["task"]["link_mbps"],
        *_clocked(trial),
        *(made[name] for name in ("kernel", "cpu", "memory_bytes")),
    )


def _clocked(record: dict) -> tuple:
    """Conditions that affect all figures, whatever is compared."""
    return record.get("sys_clk_hz"), conditions(record)["memory"]


def _of_commit(trial: dict) -> tuple:
    return conditions(trial)["version"], trial["task"]["link_mbps"], *_clocked(trial)


def _nic(trial: dict) -> str:
    return conditions(trial)["nic"]


def _variant(trial: dict) -> str:
    return trial["task"]["variant"]


def _made(trial: dict) -> str:
    made = conditions(trial)
    return (
        f"{made['nic']} at {trial.get('task', trial)['link_mbps']} Mb/s, machine "
        f"{made['machine'] or 'unknown'}, version {made['version']}"
    )
