# SPDX-License-Identifier: BSD-2-Clause
"""The commands that make the same trials again."""

import shlex
from collections import defaultdict
from collections.abc import Iterable

from moderato.toolchain.project import DIRTY

from ..measure.traffic import Traffic
from ..receiver import study
from ..run.system import IDEAL, NOMINAL_MHZ
from ..run.variants import LITEETH, MODERATO
from ..tcp.transfer import Transfer, gro_said
from .records import Records, conditions, several

TESTS = {"steady": ("throughput", "latency")}  # kinds of trials that have other names than their tests


def commands(records: Records) -> list[str]:
    """A checkout, then one command for all tests of the same variants and sizes.

    Trials of several versions on the same machine are the same in each version. The checkout is that of
    the main trials, which come last. Those on several harts may need another.
    """
    trials = [*records.trials, *records.harts]
    transfers = [*records.transfers, *records.hart_transfers]
    made = [
        *records.hart_transfers,
        *records.harts,
        *records.transfers,
        *records.strategies,
        *records.trials,
    ]
    if not made:
        return []
    version = conditions(made[-1])["version"]
    lines = [
        f"git checkout {version.removesuffix(DIRTY)}"
        + "  # and files that were not committed" * version.endswith(DIRTY)
        if not version.endswith("unknown")
        else f"# version: {version}"
    ]
    machines = defaultdict(list)  # options → trials
    for trial in trials:
        traffic = Traffic.of(trial["task"].get("traffic", {}))
        streams = [f"--streams {traffic.streams}"] * (traffic.streams > 1)
        machines[" ".join([*_machine(trial), *streams, *(["--one-way"] * traffic.one_way)])].append(
            trial
        )
    for machine, of in machines.items():
        tests = defaultdict(list)  # options → tests
        for kind in _each(trial["task"]["kind"] for trial in of):
            for variants, options in _asked(
                [trial["task"] for trial in of if trial["task"]["kind"] == kind]
            ):
                chosen = f"--variant {variants}" * (variants != LITEETH)
                tests[" ".join(filter(None, (machine, chosen, options)))] += TESTS.get(kind, (kind,))
        lines += [
            f"./moderato rfc2544 --test {','.join(names)} {options}" for options, names in tests.items()
        ]
    return lines + _strategies(records.strategies) + _transfers(transfers)


def _machine(record: dict) -> list[str]:
    """The options that select a record's machine, except for the kernel."""
    made = conditions(record)
    clock = record.get("sys_clk_hz", NOMINAL_MHZ * 1_000_000) / 1e6
    return [
        *[f"--nic {made['nic']}"] * (made["nic"] != MODERATO),
        *[
            f"--harts {made['cpu']['harts']} --spread {made.get('spread')}"
            for _ in range(several(record))
        ],
        *[f"--clock {clock:g}"] * (clock != NOMINAL_MHZ),
        *[f"--memory {made['memory']}"] * (made["memory"] != IDEAL),
    ]


def _strategies(found: list[dict]) -> list[str]:
    """One command for all trials, which share a frame size."""
    if not found:
        return []
    variants, situations = (
        _list(_each(record[name] for record in found)) for name in ("variant", "situation")
    )
    return [
        f"./moderato strategies --strategy {variants} --situation {situations} "
        f"--frame-size {found[0]['frame_bytes']}"
    ]


def _transfers(found: list[dict]) -> list[str]:
    """A command for the transfers of each study, and one for each group of similar other transfers."""
    lines, studies, others = [], defaultdict(list), defaultdict(list)  # options → transfers
    for record in found:
        options = _machine(record)
        options += [f"--kernel {record['kernel']}"] * (record["kernel"] != "normal")
        if study.has(record):
            studies[" ".join([f"--variant {record['variant']}", *options])].append(record)
            continue
        options += [f"--bytes {record['octets']} --user-buffer {record['user_buffer']}"]
        options += [f"--connections {record['connections']}"] * (record["connections"] > 1)
        options += [f"--socket {record['socket']}"] * bool(record["socket"])
        options += [f"--window {record['window']}"] * (record["window"] != Transfer.window)
        if gro_said(record["direction"], record["gro"]):
            options.append(f"--gro {'on' if record['gro'] else 'off'}")
        for name in ("off", "faults"):  # older records lack these fields and those below
            options += [f"--{name} {_list(record.get(name, []))}"] * bool(record.get(name))
        for name in ("zerocopy", "check", "profile"):
            options += [f"--{name}"] * bool(record.get(name))
        if record.get("program", Transfer.program) != Transfer.program:
            options.append(f"--program {record['program']}")
        options += [f"--peer {record.get('peer')}"] * bool(record.get("peer"))
        options += [
            f"--ethtool {shlex.quote(setting)}" for setting in conditions(record).get("ethtool", [])
        ]
        others[" ".join(options)].append(record)
    for options, records in studies.items():
        buffers = _list(_each(record["user_buffer"] for record in records))
        lines.append(f"./moderato receiver --user-buffer {buffers} {options}")
    for options, records in others.items():
        directions, links = (
            _list(_each(record[name] for record in records)) for name in ("direction", "link_mbps")
        )
        chosen = (
            ""
            if f"--nic {LITEETH}" in options
            else f"--variant {_list(_each(record['variant'] for record in records))} "
        )
        lines.append(f"./moderato tcp {chosen}--direction {directions} --link {links} {options}")
    return lines


def _asked(tasks: list[dict]) -> list[tuple[str, str]]:
    """Variants and options that make exactly the trials of one kind."""
    variants = defaultdict(list)  # options → variants
    for variant in _each(task["variant"] for task in tasks):
        sizes = defaultdict(list)  # other options → sizes
        of_variant = [task for task in tasks if task["variant"] == variant]
        for size in sorted({task["frame_bytes"] for task in of_variant}):
            of_cell = [task for task in of_variant if task["frame_bytes"] == size]
            sizes[_options(of_cell)].append(size)
        for options, of in sizes.items():
            variants[f"--frame-size {_list(of)} {options}"].append(variant)
    return [(_list(of), options) for options, of in variants.items()]


def _options(tasks: list[dict]) -> str:
    """The command for the trials of one cell."""
    words = [f"--link {tasks[0]['link_mbps']}"]
    if tasks[0]["kind"] not in ("loss", "burst"):  # they have no search
        words = [
            f"--phases {len(_each(task['phase'] for task in tasks))}",
            f"--resolution {min(task['resolution'] for task in tasks):g}",
            *words,
        ]
    if tasks[0]["kind"] == "loss":
        loads = sorted(_each(task["load_percent"] for task in tasks), reverse=True)
        words.append(f"--load {_list(f'{load:g}' for load in loads)}")
    return " ".join(words)


def _each(values: Iterable) -> list:
    """Values once, in the order in which they appear."""
    return list(dict.fromkeys(values))


def _list(values: Iterable) -> str:
    return ",".join(map(str, values))
