# SPDX-License-Identifier: BSD-2-Clause
"""Senders that bypass the stack never use a queue without rings, while rings come and go. All send
through eth0, without a pause, from its registration to its end (senders/).
"""

import functools
import shutil
from pathlib import Path

import pytest
import watched
from guests import collect, offer
from test_xdp import KERNEL, bring

from moderato.sim.lab.run.machine import machine
from moderato.sim.lab.run.system import System
from moderato.sim.lab.run.variants import OFFLOAD
from moderato.soc.linux import kernel, userspace
from moderato.toolchain.cache import run
from moderato.toolchain.project import ROOT

HERE = Path(__file__).parent
PAUSE_NS = 20_000_000  # of the AF_XDP socket, after 4 frames
# Maximum clocks of a command: the longest, rmmod on two harts, takes 55 M, and with the debug kernel
# 50 times that. After a panic, none ends.
LIMIT = 200_000_000
KINDS = "direct generic netpoll"  # of senders.c
DOWN_AND_UP = "0 up 0", "0 up 1"
SHORT = [*DOWN_AND_UP, "0 rings 64 64"]
CHANGES = [
    *DOWN_AND_UP,
    "0 rings 64 64",
    "0 up 0",
    "0 rings 256 256",
    "0 mtu 1400",
    "0 up 1",
    "0 mtu 1500",
    "1 rings 64 64",
    *DOWN_AND_UP * 2,
]
OF_QUEUES = [
    "0 channels 1",
    "0 channels 2",
    *DOWN_AND_UP,
    "0 channels 1",
    *DOWN_AND_UP,
    "1 channels 2",
    "0 up 0",
    "0 channels 2",
    "0 up 1",
    "0 channels 1",
]
FAST = System(kernel=KERNEL)
SYSTEMS = [
    pytest.param(
        system,
        id=f"{name}-{system.nic}-{system.harts}",
        marks=[] if system == FAST else pytest.mark.slow,
    )
    for name, choice in (("xdp", KERNEL), ("debug", kernel.DEBUG))
    for harts in (1, 2)
    for system in (System(kernel=choice, harts=harts, nic=nic) for nic in (FAST.nic, OFFLOAD))
]


def send(guest, mailbox: int, file: Path):
    guest.call("mailbox", file=str(file), address=mailbox)
    guest.check(f"mailbox > /tmp/{file.name}; chmod +x /tmp/{file.name}")


def module(system: System, source: Path, folder: Path) -> Path:
    """A module for the guest's kernel, built in `folder`."""
    place, built = folder / source.name, kernel.kernel(system.harts, system.kernel)
    shutil.copytree(source, place)
    run(kernel.make(built.source, built.build, f"M={place}", "modules"), log=folder / "log")
    return place / f"{source.name}.ko"


def generic_loader(folder: Path) -> Path:
    """`xdp` of the guest, for programs in generic mode."""
    source = (ROOT / "soc/linux/xdp/xdp.c").read_text()
    assert source.count("XDP_FLAGS_DRV_MODE") == 1
    (folder / "xdp-generic.c").write_text(source.replace("XDP_FLAGS_DRV_MODE", "XDP_FLAGS_SKB_MODE"))
    shutil.copy(ROOT / "soc/linux/xdp/map.h", folder)
    return userspace.compiled("xdp-generic", folder / "xdp-generic.c", userspace.toolchain())


def taken(guest) -> list[int]:
    """The frames that the driver accepted from each kind of sender."""
    return [*map(int, guest.check(f"(cd /sys/module/senders/parameters; cat {KINDS})").split())]


def begin(guest, system: System, folder: Path):
    """All senders: the module, two sockets, and frames that enter eth1."""
    guest.check("dmesg -n 1")  # the debug kernel's messages would be between the outcomes of changes
    place = guest.mailbox = machine(system=system).mailbox
    toolchain = userspace.toolchain()
    for file in (
        module(system, HERE / "senders", folder),
        module(system, HERE / "timeout", folder),
        userspace.compiled("bypass", HERE / "senders/bypass.c", toolchain),
        userspace.compiled("xsk", HERE / "xsk.c", toolchain, [f"MOMENT={PAUSE_NS}"]),
        generic_loader(folder),
    ):
        send(guest, place, file)
    program = bring(guest, "redirects")
    assert guest.check("cat /sys/class/net/eth0/ifindex") == "2\n"
    sockets = "".join(
        f"(/tmp/{words} > /tmp/said 2>&1 & echo $! >> /tmp/pids); "
        for words in ("bypass eth0", "xsk copy send eth0 4 1000000")
    )
    # The debug kernel takes so long for a frame that nothing else would run.
    period = 2000 if system.kernel == KERNEL else 20_000
    guest.check(f"/tmp/xdp-generic {program} eth1; insmod /tmp/senders.ko period_us={period}; {sockets}")
    port = {"frame_bytes": 64, "load_percent": 0.2, "frames": 200}
    guest.call("offer", ports=[{**port, "frames": 1}, port])


def end(guest):
    guest.check("kill $(cat /tmp/pids); rmmod senders; /tmp/xdp-generic off eth1")


@pytest.mark.parametrize("system", SYSTEMS)
def test_senders_find_no_queue_without_rings(tmp_path, system):
    """Up, down, -G, -L, MTU, failing changes and a reset. The driver is also removed and loaded while
    they send."""
    with watched.guest(tmp_path, system) as guest:
        limit = LIMIT if system.kernel == KERNEL else 50 * LIMIT
        guest.type = functools.partial(guest.type, max_cycles=limit)
        begin(guest, system, tmp_path)
        changes = SHORT if system == FAST else CHANGES
        changes = [*changes, *(OF_QUEUES if system.nic == OFFLOAD else [])]
        for outcome in watched.change(guest, changes, tmp_path, guest.mailbox):
            assert (outcome.error == 0) == outcome.setting.startswith("0 "), outcome
            assert not outcome.changed, outcome
        guest.check("insmod /tmp/timeout.ko; rmmod timeout")
        redirected = int(guest.check("cat /sys/class/net/eth1/statistics/rx_packets"))
        assert redirected > 0

        guest.check("rmmod moderato; insmod /tmp/moderato.ko; sleep 0.01")
        before = taken(guest)
        assert min(before) > 0
        guest.check("/etc/moderato/up static; sleep 0.05")
        assert all(now > was for now, was in zip(taken(guest), before, strict=True))
        end(guest)
        guest.call("collect")
        offer(guest, 20, quiet=50_000_000)
        assert [port["lost"] for port in collect(guest)] == [0, 0]
        assert watched.judged(guest) == []
        guest.check("ip link set eth0 down; ip link set eth1 down")
        assert watched.judged(guest) == []
