# SPDX-License-Identifier: BSD-2-Clause
"""The programs that `moderato shell` puts into the guest, run by the host's shell."""

import json
import os
import pty
import re
import shlex
import subprocess
import tarfile

import pytest

from moderato.sim.lab import cli
from moderato.sim.lab.run import console, shell, state
from moderato.sim.lab.run.variants import INTERFACES, KNOWN, LITEETH

ETHTOOL = """\
#!/bin/sh
echo "$@" >> calls
case $* in "$REFUSED"*) echo "$SAYS" >&2; exit 80 ;; esac
"""


@pytest.fixture
def variant(tmp_path):
    """`variant WORDS`, and its calls of an ethtool that fails for words that begin with `refused`."""
    (tmp_path / "variant").write_text(console.variant_script())
    (tmp_path / "ethtool").write_text(ETHTOOL)
    (tmp_path / "ethtool").chmod(0o755)

    def run(*words, refused="nothing", says=""):
        (tmp_path / "calls").write_text("")
        ended = subprocess.run(
            ["sh", "-eu", "variant", *words],
            cwd=tmp_path,
            text=True,
            capture_output=True,
            env={"PATH": f"{tmp_path}:/bin:/usr/bin", "REFUSED": refused, "SAYS": says},
        )
        return ended, [f"ethtool {line}" for line in (tmp_path / "calls").read_text().splitlines()]

    return run


@pytest.mark.parametrize("name", KNOWN)
def test_variant_uses_the_commands_of_trials(name, variant):
    ended, calls = variant(name)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, f"both ports: {name}\n", "")
    assert calls == KNOWN[name].commands()


def test_variant_s_mistakes(variant):
    ended, calls = variant("napy")
    assert ended.returncode == 2 and not calls
    assert "no 'napy'; there are: original, tx-128" in ended.stderr
    ended, calls = variant("napi", refused="-C eth1", says="Device or resource busy")
    assert (ended.returncode, ended.stdout) == (1, "") and len(calls) == 3
    assert ended.stderr == "Device or resource busy\n"
    ended, calls = variant("napi", refused="-C", says="no coalesce parameters changed, aborting")
    assert ended.returncode == 0 and len(calls) == 4  # it was set before


@pytest.mark.parametrize("words", [[], ["--help"]])
def test_variant_lists_all(words, variant):
    ended, calls = variant(*words)
    assert ended.returncode == 0 and not calls
    assert all(f"\n  {name} " in ended.stdout for name in KNOWN)
    assert max(map(len, ended.stdout.splitlines())) <= 80


def test_help_fits_the_console_and_names_existing_programs():
    program = console.FILES / "bin/help"
    shown = subprocess.run(["sh", program], capture_output=True, text=True, check=True).stdout
    assert max(map(len, (shown + shell.GREETING).splitlines())) <= 80
    for word in ("variant", "ethtool", "top", "ping", INTERFACES[0], "Ctrl-A x", "exit", "Ctrl-D"):
        assert word in shown
    assert "`help`" in shell.GREETING


@pytest.mark.parametrize("terminal", [True, False])
def test_the_consoles_shell_explains_how_to_quit(terminal):
    """When it ends, for any reason; but not over the network, without a terminal."""
    ends = pty.openpty() if terminal else os.pipe()
    begin = f". {shlex.quote(str(console.FILES / 'etc/shrc'))}"
    shown = subprocess.run(
        ["sh", "-c", begin], stdin=ends[1 if terminal else 0], capture_output=True, text=True
    )
    for end in ends:
        os.close(end)
    assert ("Ctrl-A x leaves it" in shown.stdout) == terminal
    assert not shown.stderr


@pytest.fixture
def busybox(tmp_path, monkeypatch):
    (tmp_path / "busybox").write_text("busybox")
    monkeypatch.setenv("MODERATO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(console.userspace, "busybox", lambda console: tmp_path / "busybox")


def test_package(busybox):
    """Its programs are executable; LiteEth's driver has no variants."""
    with tarfile.open(console.package("moderato")) as archive:
        modes = {entry.name: entry.mode for entry in archive}
    pages = [f"www/cgi-bin/{name}" for name in ("counters", "index.cgi", "variant")]
    assert modes == dict.fromkeys(("bin/help", "etc/shrc", *pages, "bin/variant", "bin/busybox"), 0o755)
    with tarfile.open(console.package(LITEETH)) as archive:
        assert "bin/variant" not in archive.getnames()


def test_trials_start_without_it(machine, busybox):
    """The console's state follows the trials' states, which do not change: neither do their figures."""
    ready = state.ready(machine, "napi")
    before = ready.checkpoint.read_bytes()
    at_console = state.at_console(ready, console.package("moderato"))
    assert at_console.folder != ready.folder
    assert state.ready(machine, "napi").folder == ready.folder
    assert ready.checkpoint.read_bytes() == before


# --load -------------------------------------------------------------------------------------------


@pytest.fixture
def lab(machine, busybox, monkeypatch):
    """`moderato shell` with the fake machine."""
    monkeypatch.setattr(shell, "machine", lambda *_: machine)
    return lambda *words: cli.main(["shell", "--variant", "napi", *words])


def test_frames_are_offered_while_a_command_runs(lab, capsys):
    assert lab("--load", "12.5", "--frame-size", "512", "-c", "anything") == 7
    output = capsys.readouterr()
    *_, line = output.err.splitlines()
    assert output.out == "hello\n@end@5@\n# \n@end of it\n"
    assert re.fullmatch(
        r"moderato: the tester offers 512-byte frames to each port, 12.5 % of 100 "
        r"Mb/s: \d+ received, \d+ forwarded, 0 dropped, \d+ interrupts per second",
        line,
    )
    assert lab("-c", "anything") == 7
    assert "per second" not in capsys.readouterr().err


def test_terminal_gets_the_load(lab, monkeypatch, capsys):
    started = []
    monkeypatch.setattr(shell.os, "execv", lambda program, words: started.append(words) or 0)
    lab("--load", "5")
    (words,) = started
    request = json.loads(words[words.index("--offer") + 1])
    first, second = request["ports"]
    assert request["link_mbps"] == 100 and first["load_percent"] == 5
    assert first["frame_bytes"] == second["frame_bytes"] == 64
    # Half a slot later: 84 octets in 80 ns each, twenty slots.
    assert second["phase"] - first.get("phase", 0) == 84 * 8 * 20 / 2
    assert "the tester offers 64-byte frames to each port, 5 % of 100 Mb/s" in capsys.readouterr().err
    lab()
    assert "--offer" not in started[-1]
