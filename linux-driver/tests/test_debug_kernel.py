# SPDX-License-Identifier: BSD-2-Clause
"""The driver on the debug kernel, in rounds: see docs/debugging.md.

./moderato test linux-driver/tests/test_debug_kernel.py -m slow -s
"""

import contextlib
import dataclasses
import shutil
import time
from pathlib import Path

import pytest
from debug_guest import BUSY, DEBUGFS, HEAD, DebugGuest, Round

from moderato.sim.lab.run import state
from moderato.sim.lab.run.machine import machine
from moderato.sim.lab.run.system import COMMON, IPI, PINNED, RPS, THREADED, System
from moderato.sim.lab.run.variants import INTERFACES, KNOWN, TX
from moderato.soc.linux import kernel
from moderato.toolchain.project import ROOT

pytestmark = pytest.mark.slow

TIMEOUT = Path(__file__).parent / "timeout"
POLLER = Path(__file__).parent / "poller"
WARNING = ROOT / "sim/tests/warning"


@contextlib.contextmanager
def opened(bootargs: str = "", harts: int = 1):
    """A guest with both interfaces up, static neighbours, the driver's own settings."""
    lab = machine(system=System(kernel=kernel.DEBUG, harts=harts), bootargs=bootargs)
    with state.loaded(lab, True).open() as session:
        print(f"\n{HEAD}")
        yield DebugGuest(session, lab)


@pytest.fixture
def booted():
    """A guest with its whole log since the boot. Printing it takes 2 minutes, so only one test does."""
    with opened() as guest:
        yield guest


@pytest.fixture
def guest(request):
    """`param`: boot arguments."""
    with opened(getattr(request, "param", "")) as guest:
        guest.check("dmesg -c > /dev/null")
        yield guest


def on_both(command: str) -> tuple[str, ...]:
    """A command for eth0, for both ports."""
    return tuple(command.replace("eth0", interface) for interface in INTERFACES)


# Boot, and the detector itself --------------------------------------------------------------------


def test_boot(booted, tmp_path):
    """Boot, module and interfaces cause no report. A warning is found by its level alone, and a module
    that warns is found in the log and by the taint."""
    begun = time.monotonic()
    booted.note("boot, module in", 0, begun, [], booted.news())
    assert booted.found() == []
    booted.check("echo '<4>of an unknown kind' > /dev/kmsg")
    assert booted.news() == ["<12>of an unknown kind"]
    booted.send_module(WARNING, tmp_path)
    booted.check("insmod /tmp/warning.ko")
    found = booted.news()
    assert any("WARNING: CPU: 0" in line for line in found)
    assert any("tainted" in line for line in found)


# Rounds -------------------------------------------------------------------------------------------

STRATEGIES = [Round(f"strategy `{name}`", tuple(variant.commands())) for name, variant in KNOWN.items()]

# The tester's addresses, which a port forgets when it goes down.
NEIGHBOURS = [
    f"ip neigh replace 198.1{8 + port}.0.2 lladdr 02:54:73:74:00:0{port} nud permanent dev {interface}"
    for port, interface in enumerate(INTERFACES)
]

# Ways to receive frames. The changes are made with each of them.
MODES = {
    "interrupt per frame": on_both("ethtool --set-priv-flags eth0 rx-napi off"),
    "NAPI": on_both("ethtool --set-priv-flags eth0 rx-napi on"),
    "threaded NAPI": (
        *on_both("ethtool --set-priv-flags eth0 rx-napi on"),
        *on_both("echo 1 > /sys/class/net/eth0/threaded"),
    ),
    "NAPI with a timer": on_both("ethtool --set-priv-flags eth0 rx-napi on rx-timer on"),
}
CHANGES = {
    "rings": ("ethtool -G eth0 rx 64 tx 64", "ethtool -G eth0 rx 256 tx 256"),
    "MTU": ("ip link set eth0 mtu 2000", "ip link set eth0 mtu 1500"),
    "down and up": (f"ip link set eth0 down; ip link set eth0 up; {NEIGHBOURS[0]}",),
    "reset": ("insmod /tmp/timeout.ko; rmmod timeout",),
    "suspend": (
        "cd /sys; echo 0 > module/suspend/parameters/pm_test_delay; echo devices > power/pm_test; "
        "echo freeze > power/state; cd /",
    ),
    "Tx strategies": tuple(
        command
        for strategy in TX.values()
        for command in (
            f"ethtool -C eth0 {strategy.coalesce}",
            f"ethtool --set-priv-flags eth0 {strategy.flag}",
        )
    ),
    "urgent frames": (
        "ethtool -C eth0 rx-usecs-high 100000",
        "ethtool -N eth0 flow-type ip4 tos 0",
        "ethtool -G eth0 rx 64",
        "ethtool -N eth0 delete 0",
        "ethtool -G eth0 rx 256",
        "ethtool -C eth0 rx-usecs-high 0",
    ),
    "statistics and filters": (
        "ethtool -S eth0 > /dev/null",
        "ip -s link show > /dev/null",
        "ip link set eth0 promisc on",
        "ip link set eth0 promisc off allmulticast on",
    ),
}

# eth0 sends console messages, with interrupts off.
SAID = "said over the network"
TARGET = "@198.18.0.1/eth0,@198.18.0.2/02:54:73:74:00:00"
NETPOLL = (
    f"insmod /tmp/netconsole.ko netconsole={TARGET}",
    f"dmesg -n 8; echo '<6>{SAID}' > /dev/kmsg; dmesg -n 1",
    "insmod /tmp/poller.ko polls=2000; rmmod poller",
    "rmmod netconsole",
)


def netconsole(built: kernel.Kernel, folder: Path) -> Path:
    """The kernel's own netconsole, which the kernel's build does not make as a module."""
    source = folder / "netconsole"
    source.mkdir()
    shutil.copy(built.source / "drivers/net/netconsole.c", source)
    (source / "Kbuild").write_text("obj-m := netconsole.o\n")
    return source


def of_mode(mode: str) -> list[Round]:
    rounds = [Round(f"{mode}: chosen", MODES[mode])]
    rounds += [Round(f"{mode}: {change}", commands) for change, commands in CHANGES.items()]
    rounds += [
        Round(f"{mode}: netconsole, netpoll", NETPOLL, frames=120, own_frames=1, printed=SAID),
        Round(f"{mode}: overload", frames=1000, load_percent=100, quiet=BUSY),
    ]
    return rounds


def test_strategies(guest):
    for each in STRATEGIES:
        guest.round(each)
    finish(guest)


@pytest.mark.parametrize("mode", MODES)
def test_changes(guest, mode, tmp_path):
    for module in (TIMEOUT, POLLER, netconsole(guest.built_kernel, tmp_path)):
        guest.send_module(module, tmp_path / "built")
    for each in of_mode(mode):
        guest.round(each)
    finish(guest)


def finish(guest):
    """The module is removed under traffic, loaded, and removed again. No resource of it remains."""
    guest.send_file(guest.machine.driver)
    guest.round(
        Round(
            "module out and in",
            ("rmmod moderato", f"insmod /tmp/{guest.machine.driver.name}; /etc/moderato/up static"),
        )
    )
    guest.check("rmmod moderato")
    assert guest.mapped() == 0
    assert guest.last_words() == []


# Two harts ----------------------------------------------------------------------------------------

ONLINE = "/sys/devices/system/cpu/cpu1/online"


def of_harts() -> list[Round]:
    """Each way to spread the work. Changes while both harts poll one ring, also while the ring
    overflows. Changes while each hart serves a port."""

    def chosen(way):
        return Round(f"two harts: `{way}`", tuple(System(harts=2, spread=way).commands()))

    shared = [
        dataclasses.replace(each, name=f"one ring for both: {each.name}", in_order=False)
        for each in (
            *(Round(name, CHANGES[name]) for name in ("rings", "down and up", "reset", "Tx strategies")),
            Round("overload, rings", CHANGES["rings"], frames=1000, load_percent=100, quiet=BUSY),
        )
    ]
    apart = [
        Round(f"a port for each: {name}", commands)
        for name, commands in (
            ("rings", CHANGES["rings"]),
            ("interrupt per frame", MODES["interrupt per frame"]),
            ("NAPI", MODES["NAPI"]),
            ("reset", CHANGES["reset"]),
            ("hart 1 goes and comes", (f"echo 0 > {ONLINE}", f"echo 1 > {ONLINE}")),
        )
    ]
    return [*map(chosen, (COMMON, RPS, THREADED, IPI)), *shared, chosen(PINNED), *apart]


def test_two_harts(tmp_path):
    with opened(harts=2) as guest:
        guest.check("dmesg -c > /dev/null")
        guest.send_module(TIMEOUT, tmp_path / "built")
        for each in of_harts():
            guest.round(each)
        finish(guest)


# Out of memory ------------------------------------------------------------------------------------

BURST = 150  # frames, which the ring need not hold
FAULTS = ("failslab", "fail_page_alloc")
# DMA debugging's own functions, next to each other in its source. Without memory it switches itself off.
SPARED = "dma_entry_alloc", "add_dma_entry"


def place(guest, function: str) -> tuple[int, int]:
    """The address of a function of the kernel, and that of the next one."""
    symbols = sorted(
        (int(address, 16), name)
        for address, _, name in (
            line.split() for line in guest.built_kernel.system_map.read_text().splitlines()
        )
    )
    begin = next(address for address, name in symbols if name == function)
    return begin, next(address for address, _ in symbols if address > begin)


def prepare(guest):
    """Makes allocations of the driver and of its callees fail: at random, or the n-th one of a command
    (/proc/self/fail-nth)."""
    text = int(guest.check("cat /sys/module/moderato/sections/.text"), 16)
    spared = [place(guest, function) for function in SPARED]
    settings = {
        "require-start": text,
        "require-end": text + 0x10000,
        "reject-start": min(spared)[0],
        "reject-end": max(spared)[1],
        "verbose": 0,
        "times": -1,
        "ignore-gfp-wait": "N",
        "probability": 0,
    }
    assert (
        guest.run(
            [
                *(
                    f"echo {value} > {DEBUGFS}/{fault}/{name}"
                    for fault in FAULTS
                    for name, value in settings.items()
                ),
                f"echo 0 > {DEBUGFS}/fail_page_alloc/min-order",
                f"echo N > {DEBUGFS}/fail_page_alloc/ignore-gfp-highmem",
            ]
        )
        == []
    )


def chance(percent: int) -> list[str]:
    return [f"echo {percent} > {DEBUGFS}/{fault}/probability" for fault in FAULTS]


def dropped(guest) -> int:
    """Received frames for which the driver had no memory, at both ports."""
    return sum(map(int, guest.check("cat /sys/class/net/eth[01]/statistics/rx_dropped").split()))


def nth(numbers, command: str) -> tuple[str, ...]:
    """The command, whose n-th allocation fails, for each n."""
    return tuple(f"sh -c 'echo {n} > /proc/self/fail-nth; exec {command}'" for n in numbers)


def test_out_of_memory(guest):
    prepare(guest)
    few, more = range(1, 9), (12, 20, 50, 66, 80)
    rounds = [
        Round(
            "each allocation of a ring fails once",
            nth((*few, *more), "ethtool -G eth0 rx 64"),
            frames=200,
            may_fail=True,
        ),
        Round(
            "each allocation of another MTU's ring fails once",
            nth((*few, *more), "ip link set eth0 mtu 2000"),
            frames=200,
            may_fail=True,
        ),
    ]
    for each in rounds:
        guest.round(each)
    assert guest.run(["ip link set eth0 mtu 1500", "ethtool -G eth0 rx 64"]) == []

    for mode in ("interrupt per frame", "NAPI"):
        before = dropped(guest)
        assert guest.run([*MODES[mode], *chance(70)]) == []
        # Many at once: if frames come one by one, NAPI reuses the memory of the last one.
        guest.offer(BURST, 100, BUSY)
        guest.collect()
        assert guest.run(chance(0)) == []
        assert dropped(guest) > before, "no allocation failed"
        guest.round(Round(f"{mode}: after 70 % of allocations failed"))

    down = "ip link set eth0 down"
    guest.check(down)
    guest.round(
        Round(
            "each allocation of `up` fails once",
            (
                *(command for up in nth((*few, *more), "ip link set eth0 up") for command in (up, down)),
                f"ip link set eth0 up; {NEIGHBOURS[0]}",
            ),
            may_fail=True,
        )
    )
    finish(guest)


# Leaks --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("guest", ["kmemleak=on"], indirect=True)
def test_module_leaks_no_memory(guest):
    """After the module is loaded, used and removed, kmemleak finds no leak."""
    guest.round(
        Round(
            "a short life",
            (*CHANGES["rings"], *CHANGES["MTU"], *MODES["interrupt per frame"], *CHANGES["rings"]),
        )
    )
    guest.check("rmmod moderato")
    assert guest.leaks() == ""
    assert guest.mapped() == 0
    assert guest.last_words() == []
