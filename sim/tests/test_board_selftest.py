# SPDX-License-Identifier: BSD-2-Clause
"""`moderato board selftest`: the program on the simulated SoC, also with faults; the judgement of its
lines; the PHYs' registers on a model of MDIO."""

import json
import os
import shlex
import subprocess
import sys
import time
import zlib
from pathlib import Path

import fake_board
import pytest
from fake_board import Bios, Faults, playing

from moderato.boards import images
from moderato.boards.board import BoardSoC
from moderato.sim.lab import cli
from moderato.sim.lab.board import bare, selftest
from moderato.sim.lab.board.built import Built
from moderato.sim.lab.board.findings import FAIL, PASS, SKIP, Finding
from moderato.sim.lab.board.selftest import LINE, Line, judge
from moderato.sim.lab.board.serial_line import SerialLine
from moderato.sim.lab.run.machine import machine
from moderato.soc.firmware import selftest as program
from moderato.toolchain import project

HERE = Path(__file__).parent
CLI = shlex.join([sys.executable, "-P", "-m", "moderato.sim.lab.cli"])
BASE = 0x4000_0000
PORTS = {f"{name} {port}" for name in ("MAC", "cable", "coherency", "timers") for port in "01"}
INTERRUPTS = {f"interrupt {port} {way}" for port in "01" for way in ("rx", "tx")}
DRAM = {f"DRAM {name}" for name in ("data", "lines", "address", "random", "speed")}


# On the simulated SoC ------------------------------------------------------------------------------


def rehearsed(folder: Path, *words: str) -> tuple[int, dict[str, str]]:
    """The command's status, and each line's, with the simulated board."""
    command = f"{CLI} board selftest $BOARD --json {folder}/found.json"
    call = [*shlex.split(CLI), "board", "simulate", "--bios", *words, "-c", command]
    done = subprocess.run(call, capture_output=True, text=True)
    found = json.loads((folder / "found.json").read_text())
    return done.returncode, {each["name"]: each["status"] for each in found}


def test_rehearsal(tmp_path):
    """Loaded by the serial boot, with a cable between the ports: all parts pass."""
    status, found = rehearsed(tmp_path)
    assert status == 0
    passed = {name for name, status in found.items() if status == PASS}
    assert passed == {"upload", "image", "serial line"} | DRAM | PORTS | INTERRUPTS
    assert {name for name, status in found.items() if status == SKIP} == {"clock", "PHY 0", "PHY 1"}


def test_names_a_uart_that_loses_octets(tmp_path):
    """No other line suffers from it."""
    status, found = rehearsed(tmp_path, "--fault", "uart")
    assert status == 1
    assert {name for name, status in found.items() if status == FAIL} == {"serial line"}


def simulated(fault: str | None = None, change=lambda soc: soc, damage: bytes = b"") -> dict:
    """Findings by name, of an image that is in the simulated SoC's memory. change: of the description
    that it is built for. damage: a text in it; one of its octets is wrong in memory."""
    of = machine()
    image = program.selftest(change(of.soc), size=program.SIMULATED)
    content = image.read_bytes()
    content = content.replace(damage, damage[:-1] + b"x") if damage else content
    built = Built("simulated", Path(), of.soc, {"commit": "this"}, [(image, BASE)])
    with bare.Board(of, fault) as board:
        board.loader.memory, board.loader.jumped = {BASE: content}, BASE
        with SerialLine(board.device, 1_000_000) as line:
            reader = selftest.Reader(line, 0)
            while not reader.complete:
                board.relay()
                assert board.cycle < 20_000_000, reader.lines
                while reader.read():
                    pass
            found = [each for line in reader.lines.values() for each in judge(built, line, None)]
    return {each.name: each for each in found}


def failures(found: dict[str, Finding]) -> dict[str, str]:
    return {name: each.found for name, each in found.items() if each.status == FAIL}


def test_names_a_missing_cable():
    found = simulated("cable")
    assert failures(found) == {
        "cable 0": "3 frames to port 1: 0 intact, 0 damaged, 3 lost",
        "cable 1": "3 frames to port 0: 0 intact, 0 damaged, 3 lost",
    }
    assert "connect one cable from port 0 to port 1" in found["cable 0"].next
    skips = {name for name, each in found.items() if each.found == "no frame arrived at this port"}
    assert skips == {"interrupt 0 rx", "interrupt 1 rx", "coherency 0", "coherency 1"}


def test_names_a_bad_word_of_memory():
    found = failures(simulated("dram"))
    assert found.keys() == {"DRAM address", "DRAM random"}
    assert all("the first at 0x40101010, in bits 0-31" in text for text in found.values())


def swapped(soc: dict) -> dict:
    first, *others = soc["macs"]
    first = first | {"rx_irq": first["tx_irq"], "tx_irq": first["rx_irq"]}
    return soc | {"macs": [first, *others]}


def test_names_swapped_interrupts_and_a_damaged_image():
    found = failures(simulated(change=swapped, damage=b"dram-speed"))
    assert found.keys() == {"image", "interrupt 0 rx", "interrupt 0 tx"}
    assert found["interrupt 0 tx"] == "it arrived as source 4 of the PLIC, not as 3"


# The image -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("macs, nic", [(2, "moderato"), (1, "moderato"), (2, "liteeth")])
def test_links_for_every_board(soc, macs, nic):
    """Its text is before its data, and all of it within the memory that it does not test."""
    image = program.selftest(soc | {"nic": nic, "macs": soc["macs"][:macs]}, mdio=[0xF000_2804] * macs)
    symbols = subprocess.run(
        ["riscv64-unknown-elf-nm", image.with_suffix(".elf")], capture_output=True, text=True, check=True
    ).stdout
    addresses = {name: int(at, 16) for at, _, name in map(str.split, symbols.splitlines())}
    assert addresses["_start"] == BASE
    assert max(at for name, at in addresses.items() if at >= BASE) < BASE + program.RESERVED - (64 << 10)
    assert image.stat().st_size < 32 << 10


@pytest.fixture
def soc():
    from moderato.sim.sim_soc import SimConfig, soc_verilog

    return json.loads((soc_verilog(SimConfig(macs=2)) / "soc.json").read_text())


def test_finds_the_mdio_of_a_board(soc):
    assert BoardSoC.csr_map["uart"] == images.UART_PAGE
    assert [BoardSoC.csr_map[f"phy{port}"] for port in range(2)] == [5, 7]
    assert images.mdio_registers(soc) == [0xF000_2804, 0xF000_3804]
    assert images.mdio_registers(soc | {"nic": "liteeth"}) == []


def test_phy_registers_are_those_of_clause_22(tmp_path):
    """mdio.c on this machine, with a model of two chips at one bus."""
    model = tmp_path / "model"
    folder = program.FOLDER
    subprocess.run(
        ["gcc", "-Wall", "-Wextra", "-Werror", f"-I{folder}", HERE / "mdio_model.c", "-o", model],
        check=True,
    )

    def printed(chips: int) -> list[str]:
        done = subprocess.run([model, str(chips)], capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    said = printed(2)
    first = "phy0 pass address=1 id=01410cc2 control=00001140 status=0000796d advertised=000001e1 "
    assert said[0] == first + "partner=0000c1e1 gigabit=00000200 gigabit-partner=00000800"
    assert said[1].startswith("phy0 FAIL address=2 id=01410cc2") and "status=00007949" in said[1]
    assert said[2:] == ["phy1 skip at-bus-of-port-0", "phy2 skip no-mdio"]
    assert printed(1)[1:] == ["phy1 FAIL chips=00000000", "phy2 skip no-mdio"]


# The judgement -------------------------------------------------------------------------------------

SOC = {"sys_clk_hz": 85_000_000, "link": "fixed"}


@pytest.fixture
def built(tmp_path):
    (tmp_path / "selftest.bin").write_bytes(b"image")
    return Built("versa_ecp5", tmp_path, SOC, {}, [(tmp_path / "selftest.bin", BASE)])


def line(text: str, seconds: float = 0) -> Line:
    found = LINE.fullmatch(f"selftest 00 {text} *00000000")
    assert found
    values = dict(word.split("=") for word in found[6].split())
    return Line(found[3], found[4], found[5], values, seconds)


@pytest.mark.parametrize(
    "text, says, next_",
    [
        ("image info octets=5 crc=0x1", "the 5 octets in the board's memory are not", "load it again"),
        (
            "dram-walk FAIL octets=16 errors=8 bits=0x00080000 first=0x1",
            "in bits 19",
            "a data bit is bad",
        ),
        ("dram-walk FAIL octets=16 errors=8 bits=0xffffffff first=0x1", "bits 0-31", "training failed"),
        ("dram-lines FAIL lines=0x00fffffc bad=0x00400000", "bits 22 are wrong", "an address line"),
        (
            "dram-random FAIL octets=64 errors=2 bits=0x9 first=0x40100000",
            "2 words of 16",
            "single words",
        ),
        ("phy0 FAIL chips=0x0", "no chip answers at MDIO", "reset and MDIO"),
        ("phy1 FAIL address=1 id=0x1410cc2 status=0x7949", "no link", "connect a cable"),
        (
            "phy0 pass address=1 id=0x1410cc2 status=0x796d advertised=0x1e1 partner=0x1e1",
            "the link has 100 Mb/s",
            "--link negotiated",
        ),
        ("mac0 FAIL id=0x0 version=0x0 stopped=1", "its ID reads 0x00000000", "flash this one"),
        ("mac1 FAIL id=0x4d6f6465 version=0x10005 stopped=0", "it does not stop", "reset the board"),
        ("cable0 FAIL to=1 sent=9 intact=7 lost=2 fcs-errors=2", "counts 2 damaged", "RGMII's delays"),
        ("cable0 FAIL to=1 sent=0 stuck=1", "the MAC sends nothing", "the PHY gives no clock"),
        ("cable1 FAIL to=0 sent=9 intact=8 damaged=1", "with a right FCS", "correct the DRAM"),
        ("cable1 FAIL to=0 sent=9 intact=8 lost=1 dropped=1", "port 0 dropped 1", "report"),
        ("rx-interrupt0 FAIL source=3 raised=1 claimed=0", "no interrupt of source 3", "flash again"),
        ("tx-interrupt0 FAIL source=4 raised=0 claimed=0", "did not raise it", "flash again"),
        ("tx-interrupt0 FAIL source=4 raised=1 claimed=4 remains=1", "remains after", "flash again"),
        ("coherency0 FAIL rounds=9 of=9 stale=64", "64 octets were old in the cache", "report"),
        ("coherency1 FAIL rounds=9 of=9 damaged=1", "1 octets are wrong", "correct the cable"),
        ("coherency1 FAIL rounds=3 of=9", "3 frames into a buffer that the CPU reads, of 9", "cable"),
        (
            "timers0 FAIL set=42500 packet=21250 absolute=42510 gap=42500",
            "packet 21250",
            "another clock",
        ),
    ],
)
def test_each_line_names_its_fault(built, text, says, next_):
    [found] = judge(built, line(text), None)
    assert found.status == FAIL and says in found.found and next_ in found.next


@pytest.mark.parametrize(
    "seconds, status, says",
    [
        (10.001, PASS, "84.99 MHz"),
        (10.074, FAIL, "the clock runs at 84.376 MHz instead of 85.000"),
        (10.02, PASS, "84.83 MHz"),
    ],
)
def test_clock_is_compared_with_the_hosts(built, seconds, status, says):
    begun = line("clock-begin info cycles=0x00000000", 1)
    [found] = judge(built, line("clock-end info cycles=0x32a9f880", 1 + seconds), begun)
    assert found.status == status and says in found.found
    [found] = judge(built, line("clock-end info cycles=0x32a9f880", -1), begun)
    assert found.status == SKIP


# The serial line -----------------------------------------------------------------------------------


def printed(*texts: str) -> str:
    lines = (f"selftest {number:02} {text}" for number, text in enumerate(texts))
    return "".join(f"{each} *{zlib.crc32(each.encode()):08x}\r\n" for each in lines)


GOOD = printed(
    f"image info octets=5 crc={zlib.crc32(b'image'):#x}",
    f"uart info characters={bytes(range(33, 127)).decode()}",
    "dram-lines pass lines=0x00fffffc bad=0x00000000",
    "phy0 skip reason=one-port",
    "result pass failed=0",
)


def answers(line, ended, text: str = GOOD):
    """The program after its lines: sums what is typed, and repeats them."""
    typed = b""
    while not ended.is_set():
        typed += line.read(0.1)
        while b"\n" in typed:
            whole, _, typed = typed.partition(b"\n")
            if whole == b"repeat":
                line.send(text)
                continue
            answer = f"selftest 09 echo info octets={len(whole)} crc={zlib.crc32(whole):#x}"
            line.send(f"{answer} *{zlib.crc32(answer.encode()):08x}\r\n")


def plays(text: str, lose: str = ""):
    """The program: prints its lines, and answers. lose: what is missing the first time."""

    def play(line, ended):
        booted = Bios(line, ended)
        while not line.read(0.1) and not ended.is_set():
            pass
        if not booted.run():
            return
        time.sleep(0.3)
        line.send(text.replace(lose, "") if lose else text)
        answers(line, ended, text)

    return play


def with_self_test(folder: Path) -> Path:
    (folder / "selftest.bin").write_bytes(b"image")
    (folder / "selftest.json").write_text(json.dumps({"selftest.bin": hex(BASE)}))
    return folder


@pytest.fixture
def made(tmp_path):
    return with_self_test(fake_board.folder(tmp_path / "built", project.version()))


def run(made, *words: str) -> int:
    return cli.main(["board", "selftest", "--board", "versa_ecp5", "--folder", str(made), *words])


def at_line(made, play, *words: str, faults=Faults()) -> int:
    with playing(faults, play) as line:
        return run(made, "--serial", line.device, *words)


def test_loads_the_program_and_judges_it(made, capsys):
    assert at_line(made, plays(GOOD)) == 0
    out = capsys.readouterr().out
    assert "pass  image        5 octets are those of commit" in out
    assert "pass  DRAM lines   address bits 2-23 are independent" in out
    assert "pass  serial line  every octet arrived in both directions" in out
    assert "pass  DRAM training" in out  # of the BIOS


def test_asks_for_lost_lines_again(made, capsys, monkeypatch):
    monkeypatch.setattr(selftest, "QUIET", 5)
    assert at_line(made, plays(GOOD, lose="lines pass")) == 1
    out = capsys.readouterr().out
    assert "pass  DRAM lines" in out and "FAIL  serial line  1 lines arrived damaged" in out


@pytest.mark.parametrize(
    "text, says",
    [
        ("", "prints nothing; is it of this bitstream (--folder)?"),
        (GOOD.rpartition("selftest")[0], "the self-test stopped after its line 'phy'"),
    ],
)
def test_names_where_it_stopped(made, text, says, capsys, monkeypatch):
    monkeypatch.setattr(selftest, "QUIET", 1)
    assert at_line(made, plays(text)) == 1
    assert says in capsys.readouterr().out


def test_names_power_lost_during_the_tests(made, capsys):
    assert at_line(made, plays(GOOD.rpartition("selftest")[0] + fake_board.BANNER)) == 1
    assert "the board started again" in capsys.readouterr().out


def test_prints_chosen_parts_only(made, tmp_path, capsys):
    assert at_line(made, plays(GOOD), "--only", "DRAM", "--json", f"{tmp_path}/found.json") == 0
    names = [each["name"] for each in json.loads((tmp_path / "found.json").read_text())]
    assert names[-1:] == ["DRAM lines"] and "image" not in names


def test_line_has_its_settings_again(made):
    import termios

    with playing(Faults(), plays(GOOD)) as line:
        before = termios.tcgetattr(line.theirs)
        run(made, "--serial", line.device)
        assert termios.tcgetattr(line.theirs) == before


def test_dry_run_opens_nothing(made, capsys):
    assert run(made, "--serial", "/dev/none", "--dry-run") == 0
    said = capsys.readouterr().out
    assert said == f"open /dev/none at 1000000 baud\nload {made}/selftest.bin at 0x40000000\n"


@pytest.mark.parametrize(
    "damage, says",
    [
        (lambda made: os.remove(made / "selftest.json"), "has no self-test (No such file"),
        (lambda made: os.remove(made / "selftest.bin"), "selftest.bin is missing; build it again"),
        (lambda made: (made / "selftest.json").write_text("[]"), "has no self-test"),
        (
            lambda made: (made / "report.json").write_text('{"board": "versa_ecp5", "commit": "x"}'),
            "is of commit x",
        ),
    ],
)
def test_rejects_other_folders(made, damage, says, capsys):
    damage(made)
    assert run(made, "--serial", "/dev/none") == 1
    error = capsys.readouterr().err
    assert says in error and error.count("\n") == 1


@pytest.mark.parametrize(
    "words, says",
    [
        ("selftest --board versa_ecp5", "selftest needs --serial; add it"),
        ("selftest --board versa_ecp5 --serial x --tftp", "--tftp needs --port0"),
        ("selftest --board versa_ecp5 --serial x --only frames", "there is no part 'frames'"),
        ("simulate --fault dram", "--fault dram is for --bios; add it"),
        ("simulate --bios --fault nic", "--bios has the faults cable, uart, dram"),
        ("check --board simulated --serial x --bios", "--bios is for simulate"),
        ("selftest --board simulated --serial x --tftp --port0 y", "has no network boot"),
    ],
)
def test_rejects_wrong_commands(words, says, capsys):
    assert cli.main(["board", *words.split()]) == 2
    error = capsys.readouterr().err
    assert says in error and error.count("\n") == 1
