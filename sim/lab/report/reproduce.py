# SPDX-License-Identifier: BSD-2-Clause
"""The commands that make the same trials again."""

from .records import Records, conditions

DIRTY = "-dirty"
TESTS = {"steady": "throughput,latency"}  # kinds of trials whose tests have other names


def commands(records: Records) -> list[str]:
    """One for each NIC and resolution, after checking out the version that made the trials."""
    groups = {}
    for trial in records.trials:
        made = conditions(trial)
        group = made["nic"], made["version"], _resolution(trial, records)
        groups.setdefault(group, []).append(trial["task"])
    return [_command(*group, tasks) for group, tasks in groups.items()]


def _command(nic: str, version: str, resolution: float, tasks: list[dict]) -> str:
    def values(name, kind=None):
        return list(dict.fromkeys(task[name] for task in tasks if kind in (None, task["kind"])))

    words = ["./moderato rfc2544 --test",
             ",".join(dict.fromkeys(TESTS.get(kind, kind) for kind in values("kind")))]
    if nic == "moderato":
        words += ["--variant", ",".join(values("variant"))]
    else:
        words += ["--nic", nic]
    words += ["--frame-size", ",".join(map(str, sorted(values("frame_bytes"))))]
    loads = sorted(values("load_percent", "loss"), reverse=True)
    if loads:
        words += ["--load", ",".join(f"{load:g}" for load in loads)]
    words += ["--phases", str(max(1, len(values("phase", "steady")))),
              "--resolution", f"{resolution:g}", "--link", str(tasks[0]["link_mbps"])]
    changed = "  # and files that were not committed" if version.endswith(DIRTY) else ""
    return f"git checkout {version.removesuffix(DIRTY)} && {' '.join(words)}{changed}"


def _resolution(trial: dict, records: Records) -> float:
    """Of a burst and the like, which have none that means anything, that of the first search."""
    if trial["task"]["kind"] in ("steady", "loss"):
        return trial["task"]["resolution"]
    searches = records.of("steady", "loss")
    return searches[0]["task"]["resolution"] if searches else trial["task"]["resolution"]
