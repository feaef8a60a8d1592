# SPDX-License-Identifier: BSD-2-Clause
"""Linux on the simulated SoC, without the driver: boot, shell, modules, warnings, mailbox."""

import hashlib
import shutil
from pathlib import Path

import linear_map
import pytest

from moderato.sim.lab.run import state
from moderato.sim.lab.run.machine import machine
from moderato.soc.linux import kernel
from moderato.toolchain.cache import artifact, run

WARNING = Path(__file__).parent / "warning"


@pytest.fixture(scope="module")
def lab():
    return machine()


@pytest.fixture
def guest(lab):
    """A guest at the shell's prompt, with no driver loaded."""
    with state.booted(lab).open() as session:
        yield session


def test_boot_goal(guest):
    assert guest.call("counters")["cycle"] <= 45_000_000


def test_large_pages(guest, lab):
    """Linux maps its memory with 4 MiB pages wherever none of it is reserved from Linux."""
    assert sum(linear_map.megapages(lab.soc)) == 6  # of 8: the others contain the SBI, and the mailbox
    linear_map.check(guest, kernel.kernel(), lab.soc, large=True)


def test_forwarding_can_be_switched(guest):
    guest.check("/etc/moderato/up")
    assert guest.check("cat /proc/sys/net/ipv4/ip_forward").strip() == "1"


def test_programs(guest):
    assert "LOOPBACK" in guest.check("ip link show lo")
    assert "nuttcp" in guest.check("nuttcp -V")


# A user's first commands. In the lab, their input is not a terminal; at the console it is.
@pytest.mark.parametrize(
    "command, says",
    [
        ("clear", "\033[H\033[J"),
        ("stty -a < /dev/ttyLXU0", "speed 115200 baud"),
        ("hostname", "moderato\n"),
        ("nproc", "1\n"),
        ("sleep 0.2", ""),
        ("dmesg | head -3", "Linux version 6.12"),
        ("ethtool --version", "ethtool version 6.1"),
    ],
)
def test_first_commands(guest, command, says):
    before = guest.call("counters")["cycle"]
    output = guest.check(command)
    assert says in output
    assert len(output.splitlines()) == 3 or "head" not in command
    passed = guest.call("counters")["cycle"] - before
    assert passed > 20_000_000 or "sleep" not in command


def test_mailbox_twice(guest, lab, tmp_path):
    """The second file is not mixed with cached data of the first."""
    for number in range(2):
        file = tmp_path / "file"
        file.write_bytes(hashlib.shake_128(bytes([number])).digest(20_000))
        guest.call("mailbox", file=str(file), address=lab.mailbox)
        assert hashlib.md5(file.read_bytes()).hexdigest() in guest.check("mailbox | md5sum")


def test_empty_mailbox(guest):
    status, output = guest.type("mailbox > /tmp/x")
    assert status == 1 and "mailbox: empty or damaged" in output


def test_module_warns_and_leaves(guest, lab):
    built = kernel.kernel()

    def build(folder: Path):
        shutil.copytree(WARNING, folder, dirs_exist_ok=True)
        run(kernel.make(built.source, built.build, f"M={folder}", "modules"))

    module = artifact("warning", [WARNING, built.build.name], build) / "warning.ko"
    guest.call("mailbox", file=str(module), address=lab.mailbox)
    guest.check("mailbox > /tmp/warning.ko && insmod /tmp/warning.ko")
    log = guest.check("dmesg")
    assert "WARNING: CPU: 0" in log and "warning_init" in log and "as asked" in log
    assert guest.check("cat /proc/modules").startswith("warning ")
    guest.check("rmmod warning")
    assert guest.check("cat /proc/modules") == ""
