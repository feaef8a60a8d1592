# SPDX-License-Identifier: BSD-2-Clause
"""Wrong commands: one line on standard error, status 2, and no other effect."""

import argparse
import ast
import itertools
import os
import re
import shlex
import shutil
import signal
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from moderato.sim.lab import cli, commands
from moderato.sim.lab.commands import common, files
from moderato.sim.lab.commands.example import PROGRAMS
from moderato.sim.lab.explain import profile, timeline
from moderato.sim.lab.live import live
from moderato.sim.lab.measure import forward, replay
from moderato.sim.lab.rfc2544 import matrix as rfc2544
from moderato.sim.lab.run import shell
from moderato.sim.lab.run.variants import ALL, FAST, FLOWTABLES, INTERFACES, KNOWN
from moderato.sim.lab.show.errors import UsageError
from moderato.sim.lab.strategies import comparison as strategies
from moderato.sim.lab.tcp import transfers as tcp
from moderato.sim.lab.wave import wave
from moderato.soc.linux import kernel
from moderato.toolchain import project
from moderato.toolchain.project import ROOT


@pytest.fixture(autouse=True)
def nothing_runs(monkeypatch):
    def fail(*_, **__):
        raise AssertionError("a wrong command got as far as building the machine")

    for module in (forward, live, profile, replay, rfc2544, shell, strategies, tcp, timeline, wave):
        monkeypatch.setattr(module, "machine", fail)


REJECTED = [
    # one for each kind of error, with a part of its message
    # words of a command
    ("", "COMMAND"),
    ("froward", "forward?"),
    ("help froward", "forward?"),
    ("forward --bogus", "--bogus"),
    ("forward --var napi", "--var"),
    ("cpus 4", "4"),
    ("compare a", "B"),
    ("example litex-sim", "FOLDER"),
    ("example litex-sim a b", "leave b out"),
    # values
    ("forward --variant orignal", "original?"),
    ("forward --variant bogus", "known: original, tx-128"),
    ("forward --variant napi,,tx-off", "''"),
    ("shell --variant xdp", "'xdp'"),
    ("forward --frame-size 63", "64 to 1518"),
    ("forward --frame-size 64,big", "'big'"),
    ("forward --load nan", "0.001 to 100"),
    ("forward --load full", "'full'"),
    ("forward --frames 0", "1 to 100 000 000"),
    ("forward --link 99", "10, 100 or 1000"),
    ("forward --clock 39", "40 to 400"),
    ("forward --streams 0", "1 to 4096"),
    ("rfc2544 --flows 5000", "1 to 4096"),
    ("forward --harts 3", "1, 2"),
    ("forward --ethtool rx-usecs", "'-C rx-usecs 50'"),
    ("forward --ethtool=-K" + 400 * "x", "400"),
    ("forward --ethtool -g", "-g"),
    ("forward --ethtool -G", "'-G'"),
    ("profile --ethtool", "--ethtool"),
    ("profile --seconds nan", "60"),
    ("live --pace 0", "0.0001 to 1000"),
    ("live --until -1", "from 0"),
    ("live --boxes 3", "1 box or 2"),
    ("live --boxes 2 --delay 20001 -c true", "20000"),
    ("rfc2544 --scheduler host", "'host'"),
    ("tcp --scheduler tcp://host:0", "65535"),
    ("bitstream --board versa", "versa_ecp5?"),
    ("bitstream --board versa_ecp5 --seed x", "'x'"),
    ("mutate --jobs 0", "'0'"),
    ("mutate --only (", "'('"),
    # files
    ("forward --json {tmp}/none/out.json", "none does not exist"),
    ("forward --json {tmp}", "folder"),
    ("forward --json {tmp}/loop", "loop"),
    ("forward --json /proc/x", "/proc"),
    ("forward --pcap {tmp}/file", "file"),
    ("forward --pcap -", "standard output"),
    ("live --record -", "-"),
    ("replay --variant napi --in0 {tmp}/none.pcap --out0 {tmp}/0 --out1 {tmp}/1", "none.pcap"),
    ("replay --variant napi --in0 /dev/zero --out0 {tmp}/0 --out1 {tmp}/1", "/dev/zero"),
    ("replay --variant napi --in0 {tmp}/fifo --out0 {tmp}/0 --out1 {tmp}/1", "fifo"),
    ("replay --variant napi --in0 {tmp}/empty.pcap --out0 {tmp}/0 --out1 {tmp}/1", "no frames"),
    ("replay --variant napi --in0 {tmp}/back.pcap --out0 {tmp}/0 --out1 {tmp}/1", "record 2"),
    ("replay --variant napi --in0 {tmp}/file --out0 {tmp}/link --out1 {tmp}/1", "--out0 and --in0"),
    ("live --replay {tmp}/both --capture {tmp}/both.1", "--replay of box 1"),
    ("live --boxes 2 --record {tmp}/a --capture {tmp}/a.1 -c true", "--record of box 1"),
    ("live --boxes 2 --record {tmp}/two -c true", "--record of box 1: {tmp}/two.1"),
    ("report --profiles {tmp}/file", "file"),
    ("rfc2544 --results -", "--results"),
    ("tcp --results /dev/null", "--results"),
    ("node {tmp}/file", "csr.json"),
    ("node {tmp}/damaged", "damaged"),
    ("wave --variant napi --output {tmp}/frame.vcd", ".fst"),
    ("wave --variant napi --output {tmp}/w.fst --at rx-interupt", "rx-interrupt?"),
    ("wave --variant napi --output {tmp}/w.fst --at drop:2", "0 and 1"),
    ("wave --variant napi --output {tmp}/w.fst --at function", "function:moderato_napi_poll"),
    ("wave --variant napi --output {tmp}/w.fst --at csr-write:RX_DORBELL", "near it: RX_DOORBELL"),
    ("wave --variant napi --output {tmp}/w.fst --at csr-read:STATUS:2", "0 and 1"),
    ("wave --variant napi --output {tmp}/w.fst --at csr-write:RX_FRAMES=x", "whole number"),
    ("wave --variant napi --output {tmp}/w.fst --at rx-descriptor:0", "rx-descriptor:PORT:INDEX"),
    ("wave --variant napi --output {tmp}/w.fst --at tx-descriptor:0:65536", "0 to 65535"),
    ("wave --variant napi --output {tmp}/w.fst --at value:cpu0_wfi", "value:SIGNAL=NUMBER"),
    ("wave --variant napi --output {tmp}/w.fst --at drop:0=1", "drop[:PORT]"),
    ("wave --variant napi --output {tmp}/w.fst --nth 0", "is 1"),
    ("wave --variant napi --output {tmp}/w.fst --after 1000000000", "100000000"),
    # options that exclude each other
    ("timeline --output {tmp}/trace", "--variant"),
    ("wave --output {tmp}/w.fst", "--variant"),
    ("wave --variant napi --output {tmp}/w.fst --from 5 --at drop", "--at"),
    ("wave --variant napi --output {tmp}/w.fst --from 5 --after 5", "--cycles"),
    ("wave --variant napi --output {tmp}/w.fst --cycles 5", "--from"),
    ("wave --variant napi --output {tmp}/w.fst -c ls --load 5", "--load"),
    ("wave --variant napi --output {tmp}/w.fst --every 2 --after 60000000", "2 such windows"),
    ("wave --variant napi --output {tmp}/w.fst --rewrite", "--replay"),
    ("wave --variant napi --output {tmp}/w.fst --replay {tmp}/file --load 5", "--load"),
    ("wave --variant napi --output {tmp}/w.fst --replay {tmp}/file -c ls", "-c"),
    ("wave --output {tmp}/w.fst --replay {tmp}/file", "--variant"),
    ("wave --output {tmp}/w.fst --replay {tmp}/session --variant napi", "--variant"),
    ("wave --output {tmp}/w.fst --replay {tmp}/session --harts 2", "--harts"),
    ("wave --output {tmp}/w.fst --replay {tmp}/session --replay {tmp}/file", "leave some out"),
    ("wave --variant napi --output {tmp}/w.fst --replay {tmp}/long.pcap", "--yes"),
    ("wave --variant napi --output {tmp}/w.fst --replay {tmp}/empty.pcap", "no frames"),
    ("forward --spread pinned", "--harts 2"),
    ("forward --harts 2 --spread ipi", "original, tx-128, tx-off"),
    ("rfc2544 --harts 2 --spread ipi --nic liteeth", "--spread"),
    ("forward --harts 2 --spread queues", "--nic offload"),
    ("forward --nic liteeth --variant napi", "--nic"),
    ("forward --variant napi,xdp --kernel vlan", "--kernel xdp"),
    ("profile --variant xdp-fib --harts 2 --spread ipi", "xdp-fib"),
    ("forward --variant offload --nic offload", "--nic flows"),
    ("shell --frame-size 64", "--load"),
    ("rfc2544 --test burst --load 5", "--load"),
    ("rfc2544 --test loss --phases 3", "--phases"),
    ("tcp --off rx --nic flows", "--nic offload"),
    ("tcp --off tso --nic liteeth", "--off"),
    ("live --replay {tmp}/file -c true", "-c"),
    ("live --replay {tmp}/file --variant napi", "--variant"),
    *(
        (f"live --replay {{tmp}}/file --{option}", f"--{option.split()[0]}")
        for option in ("nic flows", "hz 1000", "harts 2", "spread pinned", "memory dram", "clock 84")
    ),
    ("live --json {tmp}/a", "-c"),
    ("live --folded {tmp}/a", "--replay"),
    ("live --from 3", "--folded"),
    ("live --delay 500 -c true", "--boxes 2"),
    ("live --type1 ls -c true", "--boxes 2"),
    ("live --boxes 2 --replay {tmp}/file", "--boxes"),
    ("live --boxes 2", "-c"),
    ("live --boxes 2 --nic liteeth -c true", "--nic"),
    ("live --boxes 2 --watch -c true", "--watch"),
    ("strategies --strategy napi --situation urgent", "napi-full"),
    ("node {tmp}/file --phy a --speed 10", "--phy"),
    ("verilog --phy mii --sys-clk-freq 1e8 --output {tmp} --flow-nat", "--flows"),
    ("verilog --phy mii --sys-clk-freq 1e6 --output {tmp}", "--sys-clk-freq"),
    (
        "verilog --phy mii --sys-clk-freq 1e8 --output {tmp} --jumbo --rx-fifo-order 11",
        "--rx-fifo-order",
    ),
    # commands that take hours
    ("forward --load 0.001", "--yes"),
    ("replay --variant napi --in0 {tmp}/long.pcap --out0 {tmp}/0 --out1 {tmp}/1", "--yes"),
    ("timeline --variant napi --frames 100000000 --output {tmp}/trace", "--yes"),
    ("profile --variant napi --seconds 60", "--yes"),
    ("rfc2544 --resolution 0.1 --phases 16", "--yes"),
    ("results", "--study"),
    ("tcp --bytes 1073741824 --connections 64", "--bytes"),
    ("receiver --user-buffer 1073741824", "--user-buffer"),
]


@pytest.mark.parametrize("words, says", REJECTED)
def test_wrong_command(words, says, tmp_path, capsys):
    (tmp_path / "file").touch()
    for recording in ("both", "both.1"):
        (tmp_path / recording).touch()
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    (tmp_path / "damaged").write_text('{"constants": null, "memories": {}, "csr_registers": {}}')
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "session").write_bytes(b"ModeLive")
    head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    (tmp_path / "folder").mkdir()
    (tmp_path / "two.1").mkdir()
    (tmp_path / "empty.pcap").write_bytes(head)
    (tmp_path / "long.pcap").write_bytes(
        head + b"".join(struct.pack("<IIII", seconds, 0, 60, 60) + bytes(60) for seconds in (1, 720_001))
    )
    (tmp_path / "back.pcap").write_bytes(
        head + b"".join(struct.pack("<IIII", seconds, 0, 60, 60) + bytes(60) for seconds in (2, 1))
    )
    assert cli.main(words.format(tmp=tmp_path).split()) == 2
    output = capsys.readouterr()
    assert output.out == "" and says.format(tmp=tmp_path) in output.err
    assert len(output.err.splitlines()) == 1 and output.err.startswith("moderato: ")
    require_valid_advice(words.split()[0] if words else "", output.err)
    if not LATER.search(output.err):
        with pytest.raises(UsageError):  # the launcher checks only this before it installs
            cli.parse(words.format(tmp=tmp_path).split())


# Commands that fail only when they run: trials that take hours, wrong contents, missing packages.
LATER = re.compile(
    "add --yes|has no frames|record 2 is|nothing to run|sys-clk-freq must|no csr.json|it is damaged"
)


def having(option: str) -> list[str]:
    """The commands with that option."""
    return [name for name in commands.NAMES if option in cli.parser(name)._option_string_actions]


@pytest.mark.parametrize("name", having("--scheduler"))
@pytest.mark.parametrize("address", ["127.0.0.1:9", "tcp://[::1:9", f"{'a' * 70}.invalid:9"])
def test_missing_scheduler_is_found_before_the_build(name, address, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("MODERATO_CACHE", str(tmp_path))
    assert cli.main([name, "--scheduler", address]) == 1
    error = capsys.readouterr().err
    assert f"no dask scheduler answers at {address} (" in error and len(error.splitlines()) == 1
    require_valid_advice(name, error)


@pytest.mark.parametrize("words", [*having("--results"), "tcp --pcap {tmp}/p"])
def test_wrong_results_file_is_rejected_before_the_build(words, tmp_path, capsys):
    """Nothing is appended to a file of other content."""
    (tmp_path / "text").write_text("mine\n")
    words = [*words.format(tmp=tmp_path).split(), "--results", str(tmp_path / "text")]
    assert cli.main(words) == 1
    assert re.search("no records of trials.*; .*name another file", capsys.readouterr().err)
    assert (tmp_path / "text").read_text() == "mine\n" and not (tmp_path / "p").exists()


def require_valid_advice(name: str, error: str):
    """An error's advice is valid: the command has the options, and `moderato …` parses."""
    if name in commands.NAMES:
        mine = set(cli.parser(name)._option_string_actions)
        assert set(re.findall(r"(?<!\S)\(?(--[a-z0-9-]+)", error)) <= mine | set(said_by_user(error))
    for command in re.findall(r"`(?:\./)?moderato ([^`]*)`", error):
        require_command(command)


def said_by_user(error: str) -> list[str]:
    """The user's words, which argparse repeats in its message."""
    return re.findall(r"unrecognized arguments: ([^\s;]+)", error)


def require_command(words: str):
    """Requires a valid command, as far as the text has its words."""
    name, *rest = shlex.split(words)
    if name in ("setup", "test", "--help"):
        return
    options = cli.parser(name)._option_string_actions
    assert {word for word in rest if word.startswith("-")} <= set(options), words


# A command that takes hours, for each command with --yes.
HOURS = {
    "tcp": "--bytes 1073741824 --connections 64",
    "receiver": "--user-buffer 1073741824",
    "ontime": "--frames 100000000",
    "forward": "--load 0.001",
    "profile": "--seconds 60",
    "results": "",
    "rfc2544": "--test loss --load 0.1,0.2",
    "replay": "--in0 {tmp}/long.pcap --out0 {tmp}/0 --out1 {tmp}/1",
    "timeline": "--frames 100000000 --output {tmp}/t",
    "wave": "--frames 100000000 --output {tmp}/w.fst",
}


@pytest.mark.parametrize(
    "setting, says",
    [
        ("-C rx-usecs 50", None),
        ("--set-priv-flags rx-napi on", None),
        ("-s autoneg", None),
        ("-C rx-usecs 50 tx-usecs", "lacks a name or a value"),
        ("-C eth0 rx-usecs 50", "leave eth0 out"),
        ("--show-ring", "--show-ring"),
    ],
)
def test_settings_of_ethtool(setting, says):
    """Given as two words and as one."""
    for words in (["--ethtool", setting], [f"--ethtool={setting}"]):
        if says is None:
            assert cli.parse(["forward", *words]).ethtool == [setting]
            continue
        with pytest.raises(UsageError, match=says):
            cli.parse(["forward", *words])


def test_long_trials_need_yes():
    asking = {name for name in commands.NAMES if "--yes" in cli.parser(name)._option_string_actions}
    assert asking == set(HOURS)


@pytest.mark.parametrize("name", HOURS)
def test_advice_for_long_trials_is_valid(name, tmp_path, capsys):
    """Commands share the code of this message, but each has other options."""
    head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    (tmp_path / "long.pcap").write_bytes(
        head + b"".join(struct.pack("<IIII", seconds, 0, 60, 60) + bytes(60) for seconds in (1, 720_001))
    )
    variant = "--variant napi" * ("--variant" in cli.parser(name)._option_string_actions)
    assert cli.main(f"{name} {variant} {HOURS[name].format(tmp=tmp_path)}".split()) == 2
    error = capsys.readouterr().err
    assert re.search(r"; (give|play|name) .*, or add --yes", error)
    require_valid_advice(name, error)


def test_commands_in_messages_are_valid():
    """In every text of the project's programs."""
    texts = [
        node.value
        for folder in ("sim", "soc", "toolchain", "boards", "integrate", "gateware", "cocotb-tests")
        for file in (ROOT / folder).rglob("*.py")
        if "tests" not in file.parts
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    found = [
        command
        for text in texts
        for command in re.findall(r"`(?:\./)?moderato ([a-z0-9][^`{…]*)`", text)
    ]
    assert len(found) > 10
    for command in found:
        require_command(command)


def outputs_of(name: str) -> list[str]:
    """Options of a command with the name of an output."""
    kinds = {files.output_file, files.output_folder, files.kept_file, files.streamed_file}
    return [action.option_strings[0] for action in cli.parser(name)._actions if action.type in kinds]


def inputs_of(name: str) -> list[str]:
    """Options and positional arguments of a command with the name of an input."""
    kinds = {files.input_file, files.input_files, files.input_folder, files.kept_file}
    return [
        *(["A", "B"] if name == "compare" else []),  # they may also be commits
        *(
            action.option_strings[0] if action.option_strings else action.dest
            for action in cli.parser(name)._actions
            if action.type in kinds
        ),
    ]


REQUIRED = {
    "board": "check --board versa_ecp5 --serial x",
    "replay": "--variant napi --in0 {tmp}/a.pcap --out0 {tmp}/0 --out1 {tmp}/1",
    "report": "--results {tmp}/a.pcap",
    "results": "--study harts",
    "bitstream": "--board versa_ecp5",
    "timeline": "--variant napi --output {tmp}/t",
    "wave": "--variant napi --output {tmp}/w.fst",
    "series": "--output {tmp}/series",
    "compare": "a b",
    "node": "{tmp}/a.pcap",
    "verilog": "--phy mii --sys-clk-freq 75e6 --output {tmp}/v",
}


@pytest.mark.parametrize(
    "name, one, other",
    [
        (name, one, other)
        for name in commands.NAMES
        for one, other in itertools.combinations(outputs_of(name), 2)
    ],
)
def test_two_results_cannot_have_one_path(name, one, other, tmp_path, capsys):
    """Rejected before anything is installed, for all kinds of results."""
    (tmp_path / "a.pcap").touch()
    words = f"{name} {REQUIRED.get(name, '')} {one} {{tmp}}/same {other} {{tmp}}/same"
    with pytest.raises(UsageError, match="are the same file or folder"):
        cli.parse(words.format(tmp=tmp_path).split())


def takes(name: str, option: str, word: str) -> bool:
    """Whether an option accepts a value."""
    action = cli.parser(name)._option_string_actions[option]
    try:
        action.type(word)
    except argparse.ArgumentTypeError:
        return False
    return True


@pytest.mark.parametrize(
    "name, one, other",
    [
        (name, one, other)
        for name in commands.NAMES
        for one, other in itertools.combinations(outputs_of(name), 2)
        if takes(name, one, "-") and takes(name, other, "-")
    ],
)
@pytest.mark.parametrize("place", ["-", "/dev/stdout", "/dev/fd/1", "{tmp}/pipe"])
def test_two_results_cannot_share_a_stream(name, one, other, place, tmp_path):
    """The second would follow the first in the file, and a reader could mistake one for the other."""
    (tmp_path / "a.pcap").touch()
    os.mkfifo(tmp_path / "pipe")
    first = "-" if place.startswith(("-", "/dev")) else place
    words = f"{name} {REQUIRED.get(name, '')} {one} {first} {other} {place}"
    with pytest.raises(UsageError, match="are the same file or folder"):
        cli.parse(words.format(tmp=tmp_path).split())


def test_dev_null_may_be_given_twice():
    for words in (
        "profile --json /dev/null --folded /dev/null",
        "profile --json - --folded /dev/stderr",
    ):
        cli.parse(words.split())


@pytest.mark.parametrize(
    "name, one, other",
    [
        (name, one, other)
        for name in commands.NAMES
        for one in inputs_of(name)
        for other in outputs_of(name)
        if one != other
    ],
)
@pytest.mark.parametrize("as_named", ["{tmp}/in", "{tmp}/folder/../in", "{tmp}/link"])
def test_result_cannot_replace_an_input(name, one, other, as_named, tmp_path):
    """By any name of the file; also inside an input folder."""
    (tmp_path / "a.pcap").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("in")
    parser = cli.parser(name)
    known = parser._option_string_actions
    folder = one in known and known[one].type is files.input_folder
    if folder:
        (tmp_path / "in").mkdir()
        (tmp_path / "in" / "napi.json").touch()
    else:
        (tmp_path / "in").touch()
    if folder and known[other].type is not files.output_folder:
        as_named += "/napi.json"
    words = [name, *REQUIRED.get(name, "").split(), other, as_named]
    if one in known:
        words += [one, "{tmp}/in"]
    else:
        words[1 + "AB".index(one)] = "{tmp}/in"
    with pytest.raises(UsageError, match="are the same file or folder|in is a file|link is a file"):
        cli.parse([word.format(tmp=tmp_path) for word in words])


def test_standard_input_is_resolved_to_its_file(tmp_path):
    (tmp_path / "a").write_text("[]")
    with open(tmp_path / "a") as opened:
        ended = subprocess.run(
            [
                sys.executable,
                "-m",
                "moderato.sim.lab.cli",
                "compare",
                "/dev/stdin",
                tmp_path / "a",
                "--json",
                tmp_path / "a",
            ],
            stdin=opened,
            text=True,
            capture_output=True,
        )
    assert ended.returncode == 2 and "--json and A are the same file" in ended.stderr


@pytest.mark.parametrize("name", commands.NAMES)
def test_usage_is_complete(name):
    parser = cli.parser(name)
    usage = parser.format_usage()
    for option, action in parser._option_string_actions.items():
        hidden = option == "--help" or action.help == argparse.SUPPRESS
        assert hidden or re.search(rf"{option}\b", usage), option


WANTED = {"--folded": "--replay {tmp}/a.pcap", "--json": "-c true"}  # by options of `live`


@pytest.mark.parametrize("name", commands.NAMES)
def test_paths_are_octets(name, tmp_path):
    """A path may have any octets. Other values are text; the parser rejects octets that are not
    UTF-8."""
    path = os.path.join(os.fsencode(tmp_path), b"\xff\xe9")
    with open(path, "w"):
        pass
    os.mkdir(path + b"d")
    octets = {files.input_folder: path + b"d", files.output_folder: path + b"d"}
    kinds = {
        *octets,
        files.input_file,
        files.input_files,
        files.output_file,
        files.kept_file,
        files.streamed_file,
    }
    base = REQUIRED.get(name, "").format(tmp=tmp_path).split()
    (tmp_path / "a.pcap").touch()
    for action in cli.parser(name)._actions:
        flags = action.option_strings
        if action.nargs == 0 or action.dest == "command" or not flags and action.type is None:
            continue
        word = os.fsdecode(octets.get(action.type, path))
        words = [name, *base, flags[0], word] if flags else [name, word]
        if name == "live" and flags[0] in WANTED:
            words += WANTED[flags[0]].format(tmp=tmp_path).split()
        if action.type in kinds:
            found = getattr(cli.parse(words), action.dest)
            assert os.fsencode(str(found[0] if isinstance(found, list) else found)) == os.fsencode(word)
        else:
            with pytest.raises(UsageError):
                cli.parse(words)


@pytest.mark.parametrize(
    "words",
    [
        "--help",
        "-h",
        "help",
        *(form.format(name) for name in commands.NAMES for form in ("{} --help", "help {}")),
    ],
)
def test_help(words, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as ended:
        cli.main(words.split())
    output = capsys.readouterr()
    assert not ended.value.code and output.err == ""
    assert "usage: moderato" in output.out
    text, _, examples = output.out.partition("\nexamples:\n")
    assert max(map(len, text.splitlines())) <= 80
    assert max(map(len, examples.splitlines()), default=0) <= 100


@pytest.mark.parametrize(
    "words",
    [
        "forward --load 0 --help",
        "replay --variant nappi --in0 none -h",
        "bitstream --board x --help",
        "forward --json . --help",
        "help replay --out0",
    ],
)
def test_help_comes_first(words, capsys):
    """--help prints help even if other words are wrong."""
    with pytest.raises(SystemExit) as ended:
        cli.main(words.split())
    assert not ended.value.code and "usage: moderato" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["forward", "profile", "rfc2544"])
def test_variant_past_the_stack_chooses_its_kernel(name):
    """All variants of a command get the same kernel, so that they can be compared."""
    for fast in FAST:
        options = cli.parse([name, "--variant", f"napi-tx-off,{fast}"])
        assert options.variant == ["napi-tx-off", fast]
        assert common.system(options).kernel.name == kernel.XDP
    assert common.system(cli.parse([name, "--variant", "napi-tx-off"])).kernel == kernel.NORMAL
    for other in ("router", "debug"):  # these kernels have the features, too
        options = cli.parse(["forward", "--variant", "xdp", "--kernel", other])
        assert common.system(options).kernel.name == other
    for fast in FLOWTABLES:  # two polls share a ring
        options = cli.parse([name, "--variant", fast, "--harts", "2", "--spread", "ipi"])
        assert common.system(options).kernel.name == kernel.XDP


def test_program_past_the_stack_is_set_last():
    """On both ports, after the settings of `napi-tx-off`."""
    base = KNOWN["napi-tx-off"].commands()
    for name in FAST:
        *first, last = ALL[name].commands()
        assert first == base and last.endswith(" ".join(INTERFACES))
    assert ALL["flowtable"].commands()[-1] == "flowtable eth0 eth1"
    assert len({ALL[name].commands()[-1] for name in FAST}) == len(FAST)


@pytest.mark.parametrize("name", commands.NAMES)
def test_help_says_what_nic_and_variant_are_by_default(name):
    said = {
        option: " ".join((action.help or "").split())
        for action in cli.parser(name)._actions
        for option in action.option_strings
    }
    assert "(default: moderato)" in said.get("--nic", "(default: moderato)")
    assert re.search(r"default: |\(needed", said.get("--variant", "default: "))


def test_help_imports_only_the_standard_library():
    """Other modules take a second."""
    program = (
        "import sys; from moderato.sim.lab import cli, commands\n"
        "for name in commands.NAMES: cli.parser(name).format_help()\n"
        "print(*sys.modules)"
    )
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not {"dask", "litex", "matplotlib", "migen", "numpy", "scapy"} & set(loaded.stdout.split())


@pytest.mark.parametrize("name", commands.NAMES)
def test_examples_are_valid(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for file in (
        "mine.jsonl",
        "in.pcap",
        "in.pcapng",
        "forward.json",
        "tcp.json",
        "csr.json",
        "session",
    ):
        (tmp_path / file).touch()
    for example in cli.command(name).EXAMPLES:
        assert cli.parse([name, *shlex.split(example)]).run is cli.command(name).run


@pytest.mark.parametrize("words", ["--version", "forward --version"])
def test_version(words, capsys):
    with pytest.raises(SystemExit):
        cli.main(words.split())
    assert capsys.readouterr().out == f"moderato {project.title()}\n"


@pytest.mark.parametrize(
    "words, says",
    [
        ("--help", "usage: moderato COMMAND"),
        ("help forward", "usage: moderato forward"),
        ("shell --help", "usage: moderato shell"),
        ("test --help", "takes pytest's"),
        ("setup --help", "Installs"),
        ("help test", "takes pytest's"),
        ("--version", "moderato "),
        ("about", "build cache"),
        ("example test --help", "usage: moderato example"),
        ("verilog -h", "usage: moderato verilog"),
    ],
)
def test_help_of_the_launcher_installs_nothing(words, says, tmp_path):
    clone = bare_clone(tmp_path)
    shown = launch(clone, words)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert says in shown.stdout
    assert not (clone / ".venv").exists()


@pytest.mark.parametrize(
    "words, says",
    [
        ("", "a COMMAND is needed"),
        ("froward", "did you mean forward?"),
        ("forward --load 0", "0.001 to 100 percent"),
        ("timeline --variant napi", "--output"),
        ("bitstream", "--board"),
        ("bitstream --board colorlight_5a_75b --harts 2", "leave --harts out"),
        ("verilog --phy mii --sys-clk-freq 1e8 --merge --output out", "--merge needs --rx-checksum"),
        ("shell --nic liteeth --variant napi", "leave --variant or --nic out"),
        ("tcp --program nuttcp", "add --direction out"),
        ("live --delay 500 -c true", "add --boxes 2"),
        ("rfc2544 --load 5", "--load"),
        ("forward --spread pinned", "add --harts 2"),
        ("example litex-sim", "needs FOLDER"),
        ("example test", "invalid choice: 'test'"),
    ],
)
@pytest.mark.parametrize("before", ["nothing", "all but a board's tools"])
def test_launcher_rejects_before_it_installs(before, words, says, tmp_path):
    clone = bare_clone(tmp_path)
    if before != "nothing":
        (clone / ".venv").mkdir()
        (clone / ".venv" / "moderato.stamp").write_text("")
    shown = launch(clone, words)
    assert (shown.returncode, shown.stdout) == (2, "")
    assert says in shown.stderr and len(shown.stderr.splitlines()) == 1
    assert [each.name for each in clone.glob(".venv/*")] == ["moderato.stamp"] * (before != "nothing")


def test_cocotb_tools_are_found(monkeypatch, capsys):
    monkeypatch.setattr(sys, "path", [*sys.path])
    assert cli.main(["mutate", "--only", "like none of them"]) == 2
    assert capsys.readouterr().err == "moderato: no mutant fits 'like none of them'\n"


def test_examples_exist():
    programs = [ROOT / "examples" / file for file, *_ in PROGRAMS.values()]
    assert [program for program in programs if not program.is_file()] == []


def test_an_example_gets_its_arguments():
    """Its exit status is the command's."""
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "moderato.sim.lab.cli",
            "example",
            "litex-boards",
            "none_such",
            "--build",
        ],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
    assert "litex-boards has no target 'none_such' (" in done.stderr


def test_tools_are_called_by_their_commands():
    """Pages and messages use moderato's command for a tool, not its file."""
    listed = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "*.md", "*.py"], text=True, capture_output=True
    )
    texts = {
        name: (ROOT / name).read_text() for name in listed.stdout.splitlines() if (ROOT / name).exists()
    }
    assert len(texts) > 300
    other = re.compile(r"-m (moderato\.[a-z]|mutate\b(?!\.)|synthesis)")
    assert [name for name, text in texts.items() if other.search(text)] == []


ODD = [
    "My Lab",
    "a[1]",
    "Übung",
    "a'b",
    'a"b',
    "a$b",
    "a:b",
    "a%b",
    "a#b",
    "a=b",
    "a,b",
    "a(b)",
    "a;b",
    "a*",
    "tab\tb",
    "a\\b",
    "a&b",
]


@pytest.mark.parametrize("name", ODD)
def test_paths_with_separators_are_rejected(name, tmp_path):
    """For clone and cache, before anything is installed: only the launcher is in the clone."""
    odd, plain = tmp_path / name, tmp_path / "plain"
    for clone in odd, plain:
        clone.mkdir()
        shutil.copy(ROOT / "moderato", clone)
    shown = launch(odd, "setup")
    assert shown.returncode == 1 and "move the clone" in shown.stderr
    for there in (
        {"MODERATO_CACHE": str(odd)},
        {"MODERATO_CACHE": name},
        {"MODERATO_CACHE": "", "HOME": str(odd)},
    ):
        shown = launch(plain, "forward", **there)
        assert shown.returncode == 1 and "point MODERATO_CACHE at another folder" in shown.stderr
    assert sorted(tmp_path.rglob("*")) == sorted([odd, plain, odd / "moderato", plain / "moderato"])


def test_help_works_in_any_path(tmp_path):
    clone = bare_clone(tmp_path, "My [Lab]")
    assert launch(clone, "--help", MODERATO_CACHE="/a b").returncode == 0


def test_other_paths_are_accepted(tmp_path):
    clone = bare_clone(tmp_path, "Az09._+@~-")
    shown = launch(clone, "froward", MODERATO_CACHE=str(tmp_path / "Az09._+@~-"))
    assert shown.returncode == 2 and "did you mean forward?" in shown.stderr


def bare_clone(folder: Path, name: str = "clone") -> Path:
    """A clone without .venv."""
    clone = folder / name
    shutil.copytree(
        ROOT,
        clone,
        ignore=lambda _, names: [
            name
            for name in names
            if name in (".git", ".venv", "docs", "linux-driver", "cocotb-tests") or name == "__pycache__"
        ],
    )
    return clone


def launch(clone: Path, words: str, **environment: str) -> subprocess.CompletedProcess:
    """Run the launcher with a cache that cannot be created."""
    return subprocess.run(
        [clone / "moderato", *words.split()],
        capture_output=True,
        text=True,
        env={**os.environ, "MODERATO_CACHE": "/proc/none", "HOME": "/proc", **environment},
    )


@pytest.mark.parametrize("name", ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"])
def test_descriptor_as_an_input_is_resolved(tmp_path, name):
    """In the simulator's process, the name would be another file: its commands."""
    file = tmp_path / "in.pcap"
    file.write_text("frames")
    program = f"from moderato.sim.lab.commands import files; print(files.input_file({name!r}))"
    with file.open() as opened:
        said = subprocess.run(
            [sys.executable, "-c", program], stdin=opened, text=True, capture_output=True, check=True
        ).stdout
    assert said == f"{file}\n"


# Standard output, and Ctrl-C ----------------------------------------------------------------------

PRINTING = ["--help", "--version", "help forward", "verilog -h", "setup --help", "test --help", "about"]


@pytest.mark.parametrize("words", PRINTING)
def test_full_disk_is_reported(words):
    with open("/dev/full", "w") as full:
        said = subprocess.run(
            [ROOT / "moderato", *words.split()], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert said.returncode == 1
    assert said.stderr == "moderato: standard output: No space left on device\n"


@pytest.mark.parametrize("words", PRINTING)
def test_closed_pipe_gets_no_message(words):
    process = subprocess.Popen(
        [ROOT / "moderato", *words.split()], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait() == 128 + signal.SIGPIPE


def test_closed_pipe_of_a_result():
    process = subprocess.Popen(
        [ROOT / "moderato", "about", "--json", "-"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    process.stdout.close()
    assert "Broken pipe" not in process.stderr.read()
    assert process.wait() == 128 + signal.SIGPIPE


# The modules that each program imports early, without those that Python imports at its start.
EARLY = {
    "sim.lab.check": "argparse",
    "toolchain.install": "subprocess",
    "moderato.sim.lab.cli": "argparse",
}


@pytest.mark.parametrize("program", EARLY)
@pytest.mark.parametrize("ignored", [False, True])
def test_ctrl_c_while_python_imports(program, ignored, tmp_path):
    """Ctrl-C arrives while a module is imported. A background job of a script ignores it, and
    continues."""
    (tmp_path / f"{EARLY[program]}.py").write_text(
        "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nos.write(1, b'went on')\nos._exit(0)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-m", program, "about"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN if ignored else signal.SIG_DFL),
    )
    assert ended.stderr == ""
    assert (ended.returncode, ended.stdout) == ((0, "went on") if ignored else (-signal.SIGINT, ""))


def test_launcher_starts_no_script_of_venv():
    """They import before they could handle Ctrl-C."""
    started = re.findall(r"""python3?"?(?: -S?P)? -m (\S+)""", (ROOT / "moderato").read_text())
    assert set(started) - {"pytest"} == set(EARLY)


def test_users_folder_is_not_imported_from(tmp_path):
    for name in ("sim", "soc", "moderato"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()
    (tmp_path / "signal.py").write_text("raise SystemExit('imported')")
    for words, status in (("help", 0), ("about", 0), ("forward --variant nosuch", 2)):
        ended = subprocess.run(
            [ROOT / "moderato", *words.split()], cwd=tmp_path, capture_output=True, text=True
        )
        assert ended.returncode == status and "imported" not in ended.stdout + ended.stderr


@pytest.mark.parametrize(
    "words, says",
    [
        ("nosuch.py", "nosuch.py: no such file"),
        ("sim/tests nosuch sim/nosuch.py::test_it", "nosuch, sim/nosuch.py::test_it: no such file"),
        ("sim/tests/test_columns.py -k nosuch", None),
        ("--pyargs moderato.sim.lab", None),
    ],
)
def test_unknown_tests(words, says):
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", *words.split()],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert (f"ERROR: {says}" in ended.stderr) if says else "no such file" not in ended.stderr
    assert not says or ended.returncode == pytest.ExitCode.USAGE_ERROR


def test_setup_takes_no_words(tmp_path):
    clone = bare_clone(tmp_path)
    shown = launch(clone, "setup foo")
    assert (shown.returncode, shown.stdout) == (2, "")
    assert "leave foo out" in shown.stderr and not (clone / ".venv").exists()
