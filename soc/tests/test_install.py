# SPDX-License-Identifier: BSD-2-Clause
"""A failing set-up prints one line with cause and remedy, ends with status 1, and changes nothing."""

import os
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from moderato.toolchain import install, packages
from moderato.toolchain.project import ROOT, settings


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A Debian 12 without our packages; its programs are scripts: machine("apt-get", "exit 1")."""
    programs = tmp_path / "bin"
    programs.mkdir()

    def program(name, script):
        (programs / name).write_text(f"#!/bin/sh\n{script}\n")
        (programs / name).chmod(0o755)

    program("dpkg-query", "exit 1")
    program("apt-get", "exit 0")
    program("env", 'while case $1 in *=*) true;; *) false;; esac; do shift; done; exec "$@"')
    program("flock", 'shift; exec "$@"')
    program("dirname", 'exec /usr/bin/dirname "$@"')
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setenv("MODERATO_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("MODERATO_SKIP_PACKAGES", raising=False)
    monkeypatch.setattr(install, "VENV", tmp_path / "venv")
    monkeypatch.setattr(install, "STAMP", tmp_path / "venv/moderato.stamp")
    monkeypatch.setattr(install, "PLACE", tmp_path / "venv/moderato.place")
    system(monkeypatch, tmp_path, "VERSION_CODENAME=bookworm")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("MODERATO_SKIP_SPACE", "1")
    yield program
    packages.release.cache_clear()


def system(monkeypatch, tmp_path, os_release: str):
    file = tmp_path / "os-release"
    file.write_text(os_release)
    monkeypatch.setattr(packages, "OS_RELEASE", file)
    packages.release.cache_clear()


def fails(capsys) -> str:
    """The last line that a failing set-up prints."""
    assert install.main(["forward"]) == 1
    return capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize(
    "output",
    [
        "E: Failed to fetch: Temporary failure resolving",
        "E: Failed to fetch http://m/p.deb  Unable to connect to proxy:3128: [IP: 192.0.2.1 3128]",
        "E: Failed to fetch http://m/p.deb  Error reading from server. Remote end closed connection",
        "error: incomplete-download\nnote: This is an issue with network connectivity, not pip.",
    ],
)
def test_no_network(machine, capsys, output):
    machine("apt-get", f'echo "{output}" >&2; exit 100')
    assert "no network; connect this machine" in fails(capsys)


def test_apt_fails(machine, capsys):
    machine("apt-get", 'echo "E: Unable to locate package clang-14" >&2; exit 100')
    line = fails(capsys)
    assert "Unable to locate package clang-14" in line and "updates and security" in line


def test_failed_pip_makes_the_environment_again(machine, tmp_path):
    """The next pip would mistake half-installed packages for whole ones."""
    python = install.VENV / "bin/python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\ncase $* in *--version*) exit 0;; esac; echo "no space"; exit 1\n')
    python.chmod(0o755)
    install.PLACE.write_text(str(ROOT))
    install.STAMP.write_text(install.environment_key([]))
    assert install.usable(python) and install.environment_is_made([])
    with pytest.raises(install.InstallError, match="could not install"):
        install.make_environment([], tmp_path / "log")
    assert not install.usable(python) and not install.environment_is_made([])


def test_moved_clone_makes_the_environment_again(machine):
    """The scripts in .venv hold the clone's old path."""
    python = install.VENV / "bin/python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\n")
    python.chmod(0o755)
    install.PLACE.write_text(str(ROOT))
    assert install.usable(python)
    install.PLACE.write_text("/where/it/was")
    assert not install.usable(python)


def test_other_systems_need_programs(machine, capsys, monkeypatch, tmp_path):
    system(monkeypatch, tmp_path, "VERSION_CODENAME=leap")
    line = fails(capsys)
    for words in ("bookworm, trixie", "clang-19 (clang, clang)", "javac", "MODERATO_SKIP_PACKAGES=1"):
        assert words in line
    for need in settings()["programs"].values():
        for name, *_ in need:
            machine(name, "exit 0")
    monkeypatch.setattr(install, "environment_is_made", lambda extras: True)
    assert install.main(["forward"]) == 0


@pytest.mark.parametrize(
    "text, release",
    [
        ("VERSION_CODENAME=trixie\n", "trixie"),
        ('ID=linuxmint\nVERSION_CODENAME="wilma"\nUBUNTU_CODENAME=noble\n', "noble"),
        ("VERSION_CODENAME=sid\n", None),
        ("", None),
    ],
)
def test_release_of_the_system_or_its_parent(machine, monkeypatch, tmp_path, text, release):
    system(monkeypatch, tmp_path, text)
    assert packages.release() == release


def test_lists_of_releases_name_packages():
    """A release lacks only packages that some list has."""
    wanted = {name for names in settings()["debian"].values() for name in names}
    for lacks in settings()["releases"].values():
        assert set(lacks) <= wanted


def test_skips_packages_that_a_release_lacks(machine, monkeypatch, tmp_path):
    system(monkeypatch, tmp_path, "VERSION_CODENAME=noble")
    assert "linux-source-6.12" not in packages.names(["linux"])
    assert "get it from Debian" in packages.how_to_install("linux-source-6.12")


@pytest.fixture
def small_machine(machine, monkeypatch, tmp_path):
    """A machine whose memory and disk the tests choose, and whose apt fails."""
    machine("apt-get", "echo E: apt ran; exit 100")
    monkeypatch.delenv("MODERATO_SKIP_SPACE")
    monkeypatch.setattr(install, "MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(install, "MEMORY_LIMIT", tmp_path / "limit")

    def space(disk=100, memory=0, swap=100, limit=None):
        """In GB."""
        monkeypatch.setattr(
            os, "statvfs", lambda path: SimpleNamespace(f_bavail=disk, f_frsize=10**9, f_blocks=disk)
        )
        install.MEMINFO.write_text(
            f"MemTotal: 9 kB\nMemAvailable: {memory * 10**9 // 1024} kB\n"
            f"SwapFree: {swap * 10**9 // 1024} kB\n"
        )
        install.MEMORY_LIMIT.write_text(f"{limit * 10**9}\n" if limit else "max\n")

    return space


def test_too_little_disk(small_machine, capsys, monkeypatch):
    small_machine(disk=1)
    line = fails(capsys)
    assert "GB of disk" in line and "1.0 GB are free" in line and "MODERATO_CACHE" in line
    monkeypatch.setenv("MODERATO_SKIP_SPACE", "1")
    assert "apt ran" in fails(capsys)


def test_too_little_memory(small_machine, capsys, tmp_path):
    """Swap space counts; a container's limit may be lower than the machine's memory."""
    small_machine(memory=1, swap=0)
    line = fails(capsys)
    assert "GB of memory, and 1.0 GB are free" in line and "MODERATO_SKIP_SPACE=1" in line
    small_machine(limit=1)
    assert "1.0 GB are free" in fails(capsys)
    small_machine()
    assert "apt ran" in fails(capsys)
    small_machine(memory=1, swap=0)
    (tmp_path / "cache/linux").mkdir(parents=True)  # the builds are made
    assert "apt ran" in fails(capsys)


def test_neither_root_nor_sudo(machine, capsys, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    line = fails(capsys)
    assert "there is no sudo" in line and "apt-get install" in line


def test_sudo_fails(machine, capsys, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    machine("sudo", 'echo "sudo: a password is required" >&2; exit 1')
    line = fails(capsys)
    assert "sudo failed" in line and "as root, run: apt-get install" in line


def test_sudo_works_but_warns(machine, capsys, monkeypatch):
    """Its warning about the host's name is not the cause of apt's error."""
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    machine("sudo", 'echo "sudo: unable to resolve host h: Temporary failure" >&2; exec "$@"')
    machine("true", "exit 0")
    machine("apt-get", 'echo "E: Unable to locate package bc" >&2; exit 100')
    assert "Unable to locate package bc" in fails(capsys)


def test_full_disk(machine, capsys):
    machine("apt-get", 'echo "write error: No space left on device" >&2; exit 100')
    assert "a disk is full" in fails(capsys)


def test_read_only_clone(machine, capsys):
    """The folder of .venv cannot be made."""
    machine("apt-get", "echo \"Error: [Errno 30] Read-only file system: '/moderato/.venv'\"; exit 1")
    assert f"{ROOT} is not writable" in fails(capsys)


@pytest.mark.parametrize("place", ["/proc/none", "/dev/null", "/dev/null/none"])
def test_unusable_cache(machine, capsys, monkeypatch, place):
    monkeypatch.setenv("MODERATO_CACHE", place)
    assert "MODERATO_CACHE" in fails(capsys)


def test_no_python_packages(machine, capsys, monkeypatch):
    """pip has no network. Set-up writes no stamp, so that the next run tries again."""

    def call(command, log, failure=""):
        if "pip" in command:
            Path(log).write_text("NewConnectionError: Failed to establish a new connection")
            raise install.InstallError(f"{failure}: {install.reason(log)}")
        return 0

    monkeypatch.setattr(install, "call", call)
    install.VENV.mkdir()
    assert "pip could not install the Python packages: no network" in fails(capsys)
    assert not install.STAMP.exists()


def test_installed_packages_need_nothing(machine, capsys):
    machine("dpkg-query", 'shift 3; for name; do echo "$name installed"; done')
    wanted = sorted({name for names in settings()["debian"].values() for name in names})
    assert install.missing_packages(wanted) == []
    machine("dpkg-query", 'echo "make installed"; echo "perl config-files"; exit 1')
    assert install.missing_packages(["make", "perl", "bc"]) == ["perl", "bc"]


def test_every_need_has_a_table():
    tables = set(settings()["debian"])
    assert {need for needs in settings()["needs"].values() for need in needs} <= tables


def test_launcher_without_python(machine, tmp_path):
    """The launcher's shell code, on a machine without Python and without a way to install it."""
    for name in ("readlink", "id"):
        machine(name, f'exec /usr/bin/{name} "$@"')
    machine("id", "echo 1000")
    launch = ["/bin/sh", ROOT / "moderato", "forward"]
    result = subprocess.run(launch, capture_output=True, text=True)
    assert result.returncode == 1
    as_root = "as root, run: apt-get install python3 python3-venv\n"
    assert result.stderr == f"moderato: python3 is missing; {as_root}"
    machine("sudo", "exit 1")
    result = subprocess.run(launch, capture_output=True, text=True)
    assert result.returncode == 1
    assert result.stderr == f"moderato: sudo failed; {as_root}"
