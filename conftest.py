# SPDX-License-Identifier: BSD-2-Clause
"""How the tests share the machine: one process for each core (pytest-xdist).

The options are in pyproject.toml. All tests of a file run in one process, because they share slow
fixtures: a simulation of all its cocotb cases, trials, booted guests. Each row of
cocotb-tests/wires/test_wires.py counts as a file (xdist's loadscope).
"""

import collections
import contextlib
import copy
import ctypes
import json
import os
import signal
from pathlib import Path

import psutil
import pytest
from litex.soc.cores.cpu import CPU, CPUS
from litex.soc.integration.soc_core import SoCCore
from migen.fhdl import tracer

from moderato.toolchain import progress
from moderato.toolchain.project import cache_root

SECONDS = cache_root() / "test-seconds.json"
GIBIBYTE = 1 << 30
PR_SET_CHILD_SUBREAPER = 36


def pytest_xdist_auto_num_workers(config):
    """One process for each core that has 4 GiB. A single file runs in pytest's own process, so that -s
    and --pdb work."""
    files = {name.split("::")[0] for name in config.args}
    if len(files) == 1 and Path(*files).is_file():
        return 0
    fit = psutil.virtual_memory().total // (4 * GIBIBYTE)
    return max(1, min(len(os.sched_getaffinity(0)), fit))


def scope(nodeid):
    """The file, or row, of a test."""
    return nodeid.rsplit("::", 1)[0]


def seconds(config) -> dict[str, float]:
    """The longest duration of each file. All clones on this machine write the same record."""
    if hasattr(config, "workerinput"):
        return config.workerinput["seconds"]
    try:
        return json.loads(SECONDS.read_text())
    except (OSError, ValueError):
        return {}


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    node.workerinput["seconds"] = seconds(node.config)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """New files run first, then the longest, so that no core is idle while the last file runs. xdist
    needs the same order in every process."""
    took = seconds(config)
    items.sort(key=lambda item: -took.get(scope(item.nodeid), float("inf")))


TOOK = collections.Counter()


def pytest_runtest_logreport(report):
    TOOK[scope(report.nodeid)] += report.duration


def pytest_sessionfinish(session):
    if TOOK and not hasattr(session.config, "workerinput"):
        took = seconds(session.config)
        longest = {name: round(max(time, took.get(name, 0)), 1) for name, time in TOOK.items()}
        with contextlib.suppress(OSError):
            SECONDS.write_text(json.dumps(took | longest))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Print progress of slow builds at once: otherwise a test that builds a kernel seems stuck. A test
    that captures output, or has its own cache, gets these lines itself."""
    capture, kept = item.config.pluginmanager.getplugin("capturemanager"), cache_root()
    looks = {"capsys", "capfd", "capsysbinary", "capfdbinary"} & set(getattr(item, "fixturenames", ()))

    def lifted():
        if looks or cache_root() != kept:
            return contextlib.nullcontext()
        return capture.global_and_fixture_disabled()

    progress.uncaptured = lifted
    try:
        return (yield)
    finally:
        progress.uncaptured = contextlib.nullcontext
        restore()
        listen()


# LiteX stores settings of one SoC in its classes, where the next SoC of the process finds them: for
# example a CPU's interrupts, or a cluster without RAM ports.
SHARED = {CPU, SoCCore, *CPUS.values()}
PLAIN = bool, int, str, list, dict, type(None)


def imported():
    """The plain values of these classes; lists and dicts are copies."""
    return {
        kind: {
            name: copy.copy(value)
            for name, value in vars(kind).items()
            if not name.startswith("__") and isinstance(value, PLAIN)
        }
        for kind in SHARED
    }


IMPORTED = imported()


def restore():
    for kind, values in imported().items():
        for name in values.keys() - IMPORTED[kind].keys():
            delattr(kind, name)
        for name, value in IMPORTED[kind].items():
            setattr(kind, name, copy.copy(value))


def pytest_runtest_teardown():
    """Migen keeps every object that made a signal, and searches all of them for each new signal. After a
    few hundred devices, this search takes most of the time. No device needs another one's objects."""
    tracer.classname_to_objs.clear()


# When the tests end, every process that they started ends -----------------------------------------

STOPS = {
    signal.SIGINT: signal.default_int_handler,
    signal.SIGTERM: signal.SIG_DFL,
    signal.SIGHUP: signal.getsignal(signal.SIGHUP),
}  # SIGHUP: keep nohup's


def listen():
    """Let child processes react to signals. A script's background command ignores Ctrl-C, as does a
    process after a stopped command of the lab, and children would inherit that."""
    for number, handler in STOPS.items():
        signal.signal(number, handler)


def pytest_configure(config):
    if not config.option.pyargs:  # with it, arguments are names of packages
        place = config.invocation_params.dir
        if gone := [word for word in config.args if not (place / word.split("::")[0]).exists()]:
            raise pytest.UsageError(f"{', '.join(gone)}: no such file or folder of tests")
    os.environ.pop("COLUMNS", None)  # xdist sets it, and it would change the lab's tables
    if not hasattr(config, "workerinput"):
        STOPS[signal.SIGTERM] = signal.default_int_handler  # as after Ctrl-C
        # Processes of a killed worker become children of this process.
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        config.add_cleanup(end_children)
    listen()


def end_children():
    for process in psutil.Process().children(recursive=True):
        process.kill()
