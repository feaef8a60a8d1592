# SPDX-License-Identifier: BSD-2-Clause
"""`moderato results`: docs/data, docs/tables.md and docs/figures again, on one clean commit.

The steps are commands of moderato, and each study can be run separately. Results are kept in the build
cache, in a folder for the commit and its machines. Ctrl-C loses only the running trials. The files of
docs are replaced when all results are complete.
"""

import contextlib
import gzip
import shutil
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from moderato.toolchain import project
from moderato.toolchain.project import ROOT, cache_root

from ..report import records
from ..report.build_report import report
from ..run import variants
from ..run.machine import machine
from ..run.system import COMMON, IPI, PINNED, QUEUES, RPS, SPREADS, System
from ..show import outputs
from ..show.errors import LabError
from ..show.progress import duration

PROFILES, FORWARD = FOLDERS = "profiles", "forward"  # folders of a run, and of docs/data
KEPT = "*.json"  # copied to docs; timelines are only in the run's report


@dataclass(frozen=True)
class Step:
    minutes: float  # on two idle cores
    command: str  # {trials}: the file of records; {profiles}, {forward}: folders for other results


RFC2544 = "rfc2544 --results {trials}"
LITEETH = f"{RFC2544} --nic liteeth"
TCP, RECEIVER = "tcp --results {trials}", "receiver --results {trials}"
ALL = "original,tx-128,tx-off,napi,napi-tx-128,napi-tx-off,napi-full,adaptive-hw"
# `make forward`'s first table; the same with the Versa's clock and memory; and without Linux' patch.
FORWARD_STUDY = (
    Step(3, "forward --frame-size 64 --json {forward}/lab.json"),
    Step(5, "forward --frame-size 64 --memory dram --clock 84 --json {forward}/versa.json"),
    Step(3, "forward --frame-size 64 --kernel stock --json {forward}/stock.json"),
)
RFC2544_STUDY = (
    # With an interrupt for each frame, the phase between the ports moves a throughput by 12 %.
    Step(28, f"{RFC2544} --variant original,tx-128,tx-off --phases 3"),
    Step(8, f"{RFC2544} --variant napi,napi-tx-128,napi-tx-off"),
    # LiteEth's driver copies: the time is linear in the size, and four sizes are enough.
    Step(11, f"{LITEETH} --frame-size 64,256,512,1518"),
    Step(0.7, f"{RFC2544} --test loss --frame-size 512 --load 100"),
    Step(6, f"{RFC2544} --test loss --frame-size 64 --load 100,30,12,6,4,3,2,1"),
    Step(4, f"{RFC2544} --test loss --frame-size 256 --load 100,30,15,8,4"),
    Step(0.3, f"{LITEETH} --test loss --frame-size 512 --load 100"),
    Step(1.5, f"{LITEETH} --test loss --frame-size 64 --load 100,12,6,4,3,2,1"),
    Step(1, f"{LITEETH} --test loss --frame-size 256 --load 100,15,8,4"),
    Step(9, f"{RFC2544} --test burst,recovery,reset --frame-size 64"),
    Step(4, f"{LITEETH} --test burst,recovery,reset --frame-size 64"),
    # Loads near each variant's throughput.
    Step(
        1,
        "profile --variant original,tx-128,tx-off --load 2.6 --json {profiles}/interrupt-per-frame.json",
    ),
    Step(0.5, "profile --variant napi --load 5.7 --json {profiles}/napi.json"),
    Step(0.7, "profile --variant napi-tx-128,napi-tx-off --load 8 --json {profiles}/napi-tx.json"),
    Step(0.7, "profile --nic liteeth --load 2.6 --json {profiles}/liteeth-64.json"),
    Step(0.7, "profile --nic liteeth --load 15 --frame-size 1518 --json {profiles}/liteeth-1518.json"),
    Step(0.3, "timeline --variant original --frames 8 --output {profiles}/original.pftrace"),
    Step(0.3, "timeline --variant napi-tx-off --frames 8 --output {profiles}/napi-tx-off.pftrace"),
)
TCP_STUDY = (
    Step(18, f"{TCP} --variant {ALL} --link 100,1000"),
    Step(1, f"{TCP} --variant napi-full --link 1000 --direction through --kernel netfilter"),
    Step(1, f"{TCP} --variant napi-full --link 1000 --direction through --kernel conntrack"),
    # LiteEth holds two frames: it drops those after them, and the sender waits for a timer.
    Step(1, f"{TCP} --nic liteeth --direction in --socket 4096 --bytes 1000000"),
    Step(1, f"{TCP} --nic liteeth --direction out --link 1000 --bytes 1000000"),  # 100: docs/tcp.md
    Step(1, f"{TCP} --nic liteeth --direction through --window 2896 --bytes 1000000"),
    Step(8, f"{RECEIVER} --variant original"),
    Step(8, f"{RECEIVER} --variant original --kernel traced"),
)


def harts() -> Iterator[Step]:
    """Two harts with each way to spread the work, and one hart where no other study has that trial.

    Combinations that repeat another result are omitted. With all frames at one port, `pinned` and
    `threaded` have one busy hart, like `common`. Only `rps` and `ipi` depend on streams. `queues` needs
    another NIC.
    """
    udp = f"{RFC2544} --test throughput --variant napi-tx-off"
    tcp = f"{TCP} --variant napi-full --link 1000"
    through = f"{tcp} --direction through --kernel conntrack"
    # The ring of one hart limits it: frames beyond the ring are lost.
    shared = "--connections 4 --bytes 1000000 --window 65536"
    ways = {spread: f" --harts 2 --spread {spread}" for spread in SPREADS if spread != QUEUES}
    for way in ways.values():
        yield Step(1.5, f"{udp} --frame-size 64{way}")
    for way in ways.values():
        yield Step(1, f"{through}{way}")
        yield Step(1, f"{through} {shared}{way}")
    for spread in PINNED, IPI, COMMON:
        yield Step(2, f"{udp} --frame-size 512,1518{ways[spread]}")
    for way in ("", ways[RPS]):
        yield Step(1, f"{udp} --frame-size 64 --streams 16{way}")
    for way in ("", ways[RPS], ways[IPI]):
        yield Step(1, f"{udp} --frame-size 64 --streams 16 --one-way{way}")
    for spread in PINNED, COMMON:
        yield Step(1, f"{tcp} --direction in,out{ways[spread]}")


# Each takes less than an hour and a half. Its results are a file of records in docs/data, or a folder.
STUDIES = {
    "forward": FORWARD_STUDY,
    "rfc2544": RFC2544_STUDY,
    "tcp": TCP_STUDY,
    "strategies": (Step(30, "strategies --results {trials}"),),
    "harts": tuple(harts()),
}


def results(studies: Mapping[str, Sequence[Step]] = STUDIES, docs: Path = ROOT / "docs") -> int:
    """Run the remaining steps, then replace the studies' files in `docs`; returns the exit status."""
    folder = run_folder(clean_commit())
    for name in FOLDERS:
        (folder / name).mkdir(parents=True, exist_ok=True)
    print(
        f"moderato: all is kept in {folder} until the end; Ctrl-C, and the same command goes on",
        file=sys.stderr,
    )
    done = Done(folder / "done")
    plan = [(study, step) for study, steps in studies.items() for step in steps]
    todo = [(study, step) for study, step in plan if step.command not in done]
    begun, planned = time.monotonic(), 0.0
    for number, (study, step) in enumerate(todo):
        # Scaled by how long the steps have taken so far.
        pace = (time.monotonic() - begun) / planned if planned > 120 else 1
        left = duration(60 * pace * sum(each.minutes for _, each in todo[number:]))
        print(
            f"moderato: step {len(plan) - len(todo) + number + 1} of {len(plan)}, about {left} "
            f"left: {step.command}",
            file=sys.stderr,
            flush=True,
        )
        run(step, folder / records_of(study), folder)
        done.add(step.command)
        planned += 60 * step.minutes
    publish(studies, folder, docs)
    return 0


def clean_commit() -> str:
    """The commit that the results are made on. Raises LabError if files differ from it."""
    changed = project.uncommitted()
    if changed is None:
        raise LabError("published figures name their commit; run this in a clone, with git")
    if changed:
        raise LabError(
            "published figures are of one commit, and these files differ from it: "
            f"{', '.join(changed[:5])}{' …' * (len(changed) > 5)}; commit them, or put "
            "them away with `git stash -u`"
        )
    return project.version()


def run_folder(commit: str) -> Path:
    """The folder of a run of these machines; builds all their inputs."""
    machines = [
        machine(system=System(nic)).conditions["machine"]
        for nic in (variants.MODERATO, variants.LITEETH)
    ]
    return cache_root() / "published" / "-".join([commit, *machines])


class Done:
    """The commands that have succeeded, one on each line of a file."""

    def __init__(self, file: Path):
        self.file = file
        self.commands = file.read_text().splitlines() if file.exists() else []

    def __contains__(self, command: str) -> bool:
        return command in self.commands

    def add(self, command: str):
        with open(self.file, "a") as file:
            file.write(command + "\n")


def records_of(study: str) -> str:
    return f"{study}.jsonl"


def run(step: Step, trials: Path, folder: Path):
    """Run a command of moderato; its tables are written to log.txt."""
    from ..cli import parse

    options = parse(
        [
            word.format(trials=trials, **{name: folder / name for name in FOLDERS})
            for word in step.command.split()
        ]
    )
    options.patient = True  # the plan already announced how long each step takes
    with open(folder / "log.txt", "a") as log, contextlib.redirect_stdout(log):
        print(f"$ moderato {step.command}\n")
        status = options.run(options)
    if status:
        raise LabError(
            f"`moderato {step.command}` ended with status {status}: nothing is "
            f"published; what was made is in {folder}"
        )


# Publishing ---------------------------------------------------------------------------------------


def publish(studies: Iterable[str], folder: Path, docs: Path):
    """Replace data, tables and figures of these studies in `docs`. Raises LabError if the results
    together are not of a single run."""
    data = docs / "data"
    made = {study: file for study in studies if (file := folder / records_of(study)).exists()}
    together = [made.get(study, data / f"{records_of(study)}.gz") for study in STUDIES]
    if notes := records.load([file for file in together if file.exists()]).notes:
        raise LabError(
            f"the records in {folder} are no single run on one machine for each NIC, "
            f"nothing is published: {'; '.join(notes)}"
        )
    for study, trials in made.items():
        with outputs.replacing(data / f"{records_of(study)}.gz") as file:
            file.write_bytes(gzip.compress(trials.read_bytes(), mtime=0))
    for name in made_folders(folder):
        with outputs.replacing_folder(data / name, [KEPT]) as kept:
            assert kept is not None
            for file in (folder / name).glob(KEPT):
                shutil.copy(file, kept)
    report(
        sorted(data.glob("*.jsonl.gz")),
        folder / "report.html",
        docs / "figures",
        docs / "tables.md",
        (folder if PROFILES in made_folders(folder) else data) / PROFILES,
    )


def made_folders(folder: Path) -> list[str]:
    """The folders of a run that have content."""
    return [name for name in FOLDERS if any((folder / name).iterdir())]
