# SPDX-License-Identifier: BSD-2-Clause
"""`moderato board`: flash, boot and console, with a pretended board at a pty."""

import json
import os
import pty
import select
import subprocess
import sys
import termios

import fake_board
import pytest
from fake_board import Bios, Faults, playing

from moderato.sim.lab import cli
from moderato.sim.lab.board import bios, flash, frames, report, serial_line, shell, tftp
from moderato.sim.lab.board.findings import FAIL, PASS
from moderato.sim.lab.show.errors import LabError
from moderato.toolchain import project

DETECTED = "index 0:\n\tidcode 0x{:x}\n\tmanufacturer lattice\n\tfamily ECP5\n\tmodel  LFE5UM5G-45\n"


@pytest.fixture
def made(tmp_path):
    """The folder of a bitstream of this commit."""
    return fake_board.folder(tmp_path / "built", project.version())


@pytest.fixture
def loader(tmp_path, monkeypatch):
    """An openFPGALoader that prints `output` at --detect and ends with `status`; its calls."""
    folder = tmp_path / "bin"
    folder.mkdir()
    calls = tmp_path / "calls"

    def make(output: str, status: int = 0):
        (folder / "output").write_text(output)
        program = folder / flash.PROGRAM
        program.write_text(f'#!/bin/sh\necho "$@" >> {calls}\ncat {folder}/output\nexit {status}\n')
        program.chmod(0o755)
        return lambda: calls.read_text().splitlines()

    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return make


def board(action: str, made, *words: str, name: str = "versa_ecp5") -> int:
    return cli.main(["board", action, "--board", name, "--folder", str(made), *words])


# The command line ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words, says",
    [
        ("boot --board versa_ecp5", "boot needs --serial; add it"),
        ("console --board versa_ecp5", "console needs --serial; add it"),
        ("boot --board versa_ecp5 --serial x --tftp", "--tftp needs --port0"),
        ("boot --board versa_ecp5 --serial x --spi", "--spi is for flash"),
        ("flash --board versa_ecp5 -c x", "-c is for console"),
        ("flash --board versa_ecp5 --port0 x --port1 x", "the same interface"),
        ("flash --board versa", "did you mean versa_ecp5?"),
        ("fly --board versa_ecp5", "invalid choice: 'fly'"),
        ("flash", "flash needs --board; add it"),
        ("check --board ecpix5 --serial x --port1 y", "ecpix5 has one port; leave --port1 out"),
        ("simulate --board versa_ecp5", "a board of its own"),
        ("boot --board simulated --serial x", "needs an FPGA and its BIOS"),
        ("flash --board versa_ecp5 --fault nic", "--fault is for simulate"),
        ("check --board versa_ecp5 --serial x --only tea", "there is no part 'tea'; there are: serial"),
    ],
)
def test_rejects_wrong_commands(words, says, capsys):
    assert cli.main(["board", *words.split()]) == 2
    error = capsys.readouterr().err
    assert says in error and error.count("\n") == 1


# flash ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, words, expected",
    [
        ("versa_ecp5", [], "-c ft2232 --write-sram {}"),
        ("versa_ecp5", ["--spi"], "-c ft2232 --write-flash {}"),
        ("ecpix5", [], "-b ecpix5 --write-sram {}"),
        ("colorlight_5a_75b", ["--adapter", "ft232"], "-c ft232 --write-sram {}"),
    ],
)
def test_dry_flash_prints_the_command(tmp_path, name, words, expected, capsys, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    made = fake_board.folder(tmp_path / "built", project.version(), name)
    assert board("flash", made, *words, "--dry-run", name=name) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[1] == f"openFPGALoader {expected.format(made / f'{name}.bit')}"
    assert printed[0].endswith("--detect")


def test_flash_writes_to_the_detected_fpga(made, loader, capsys):
    calls = loader(DETECTED.format(0x81112043))
    assert board("flash", made) == 0
    assert calls() == ["-c ft2232 --detect", f"-c ft2232 --write-sram {made}/versa_ecp5.bit"]
    assert "until power goes off" in capsys.readouterr().err


def test_flash_rejects_another_fpga(made, loader, capsys):
    calls = loader(DETECTED.format(0x41111043))
    assert board("flash", made) == 1
    error = capsys.readouterr().err
    assert "0x41111043 (LFE5U-25F)" in error and "LFE5UM5G-45F-8BG381C has 0x81112043" in error
    assert len(calls()) == 1


@pytest.mark.parametrize(
    "output, status, says",
    [
        ("unable to open ftdi device: -3 (device not found)", 1, "no JTAG adapter answers"),
        ("unable to open ftdi device: -4 (usb_open() failed)", 1, 'MODE="0660"'),
        ("unable to open ftdi device: -5 (unable to claim usb device)", 1, "another program"),
        ("Error: fails", 1, "--detect` failed: Error: fails"),
        ("", 0, "no FPGA answers on JTAG"),
    ],
)
def test_flash_explains_what_failed(made, loader, output, status, says, capsys):
    loader(output, status)
    assert board("flash", made) == 1
    error = capsys.readouterr().err
    assert says in error and error.count("\n") == 1


def test_flash_names_the_missing_program(made, monkeypatch, capsys):
    monkeypatch.setenv("PATH", "/nowhere")
    assert board("flash", made) == 1
    assert "apt install openfpgaloader" in capsys.readouterr().err


def test_flash_needs_an_adapter_for_a_board_without(tmp_path, capsys):
    made = fake_board.folder(tmp_path / "built", project.version(), "colorlight_5a_75b")
    assert board("flash", made, name="colorlight_5a_75b") == 2
    assert "--adapter" in capsys.readouterr().err


def test_every_board_has_an_idcode():
    """Of the device in its platform file."""
    for device in ("LFE5UM5G-45F-8BG381C", "LFE5UM5G-85F-8BG554I", "LFE5U-25F-6BG256C"):
        assert device.rsplit("-", 1)[0] in flash.IDCODES


@pytest.mark.parametrize("commit", ["1234567", None])
def test_rejects_images_of_another_commit(tmp_path, commit, capsys):
    made = fake_board.folder(tmp_path / "built", commit)
    for action, words in ("flash", []), ("boot", ["--serial", "/dev/null"]):
        assert board(action, made, *words) == 1
        error = capsys.readouterr().err
        assert "build it again: ./moderato bitstream --board versa_ecp5" in error
        assert (commit or "an unknown commit") in error


@pytest.mark.parametrize(
    "damage, says",
    [
        (lambda made: (made / "soc.json").unlink(), "is not a folder of a bitstream"),
        (lambda made: (made / "boot.json").write_text("[]"), "is not a folder of a bitstream"),
        (lambda made: (made / "Image").unlink(), "Image is missing"),
        (
            lambda made: (made / "report.json").write_text('{"board": "ecpix5"}'),
            "was made for ecpix5, not for versa_ecp5",
        ),
    ],
)
def test_rejects_a_damaged_folder(made, damage, says, capsys):
    damage(made)
    assert board("flash", made) == 1
    assert says in capsys.readouterr().err


def test_names_the_command_that_makes_the_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["board", "flash", "--board", "ecpix5"]) == 1
    assert "`./moderato bitstream --board ecpix5` makes it" in capsys.readouterr().err


# The BIOS' output ----------------------------------------------------------------------------------


def judged(**parts) -> dict:
    text = fake_board.BANNER.format(
        **{"memtest": fake_board.MEMTEST_OK, "width": "03", "lane": "04+-03"} | parts
    )
    return {each.name: each for each in bios.judge(text, 84_375_000)}


def test_judges_a_good_start():
    found = judged()
    assert list(found) == ["ROM", "clock", "DRAM training", "DRAM"]
    assert {each.status for each in found.values()} == {PASS}
    assert "lane 0: +-03, lane 1: +-03" in found["DRAM training"].found
    assert "Write speed: 91.2MiB/s" in found["DRAM"].found


@pytest.mark.parametrize(
    "parts, name, says",
    [
        ({"memtest": fake_board.BAD_BIT}, "DRAM", "128 of 256 bus words"),
        ({"lane": "-"}, "DRAM training", "byte lane 1 found no working delay"),
        ({"width": "01"}, "DRAM training", "the window is narrow"),
        ({"memtest": "Memory initialization failed"}, "DRAM", "initialisation failed"),
    ],
)
def test_judges_bad_memory(parts, name, says):
    found = judged(**parts)[name]
    assert found.status == FAIL and says in found.found and found.next


def test_judges_the_next_step_by_the_kind_of_errors():
    address = "  bus errors:  0/256\r\n  addr errors: 9/8192\r\n  data errors: 0/99\r\nMemtest KO"
    assert "address line" in judged(memtest=address)["DRAM"].next
    assert "data bit" in judged(memtest=fake_board.BAD_BIT)["DRAM"].next


def test_judges_a_bitstream_of_another_clock():
    [found] = bios.judge("CPU:\t\tVexRiscv @ 75MHz\r\n", 84_375_000)
    assert found.status == FAIL and "75 MHz" in found.found


# boot over the serial line -------------------------------------------------------------------------


def boots(made, faults: Faults, *words: str) -> tuple[int, list[Bios]]:
    found: list[Bios] = []
    with playing(faults, fake_board.bios_then_shell(found)) as line:
        return board("boot", made, "--serial", line.device, *words), found


def images(made) -> dict[int, bytes]:
    return {
        int(at, 0): (made / name).read_bytes()
        for name, at in json.loads((made / "boot.json").read_text()).items()
    }


def test_boots_over_the_serial_line(made, capsys):
    status, [board_] = boots(made, Faults())
    printed = capsys.readouterr().out
    assert status == 0 and board_.content() == images(made) and board_.jumped == 0x40F00000
    assert "pass  DRAM         memory test OK" in printed and "FAIL" not in printed


def test_sends_damaged_frames_again(made, capsys):
    status, [board_] = boots(made, Faults(damage=20))
    assert status == 0 and board_.content() == images(made)
    assert ", 0 of them sent again" not in capsys.readouterr().out


def test_loads_through_a_line_that_drops_octets(made, capsys):
    status, [board_] = boots(made, Faults(drop=0.0005))
    assert status == 0 and board_.content() == images(made)


def test_reports_power_lost_in_the_middle(made, capsys):
    status, _ = boots(made, Faults(power=40))
    assert status == 1
    assert "the board started again after" in capsys.readouterr().err


def test_loads_nothing_into_bad_memory(made, capsys):
    status, [board_] = boots(made, Faults(memtest=fake_board.BAD_BIT))
    assert status == 1 and not board_.memory
    assert "DRAM: memory test failed: 128 of 256 bus words" in capsys.readouterr().err


def test_dry_boot_opens_nothing(made, capsys):
    assert board("boot", made, "--serial", "/dev/nothing", "--dry-run", "--tftp", "--port0", "no0") == 0
    printed = capsys.readouterr().out
    assert "open /dev/nothing at 1000000 baud" in printed and "boot.bin at 0x40f00000" in printed


# boot by TFTP --------------------------------------------------------------------------------------

MAC, BOARD = "02:00:00:00:00:01", "02:00:00:00:00:02"


class Client:
    """LiteX's TFTP client: port 7642, blocks of 1024 octets."""

    def __init__(self, files, lose=()):
        self.sent: list[bytes] = []
        self.server = tftp.Server(MAC, files, self.sent.append)
        self.lose, self.now = set(lose), 0.0

    def say(self, port: int, data: bytes):
        self.server.take(
            frames.udp((MAC, BOARD), (tftp.SERVER, tftp.CLIENT), (port, 7642), data), self.now
        )

    def get(self, name: str) -> bytes | None:
        self.say(69, b"\0\1" + name.encode() + b"\0octet\0blksize\0" + b"1024\0")
        content, seen = b"", 0
        while True:
            if not self.sent:
                self.now += 1
                self.server.tick(self.now)
            packet = frames.parse(self.sent.pop(0))
            assert packet.target == tftp.CLIENT
            kind, block = packet.data[1], int.from_bytes(packet.data[2:4], "big")
            if kind == tftp.ERROR:
                return None
            if (name, block) in self.lose:
                self.lose.remove((name, block))
                continue
            if kind == tftp.OACK:
                assert packet.data[2:] == b"blksize\x001024\0"
                self.say(packet.ports[0], b"\0\4\0\0")
                continue
            assert kind == tftp.DATA
            if block == seen + 1:
                content, seen = content + packet.data[4:], block
            self.say(packet.ports[0], b"\0\4" + packet.data[2:4])
            if len(packet.data) < 1028:
                return content


@pytest.mark.parametrize("size", [0, 1, 1023, 1024, 1025, 2048, 70 * 1024])
def test_tftp_serves_every_size(size):
    files = {"a": os.urandom(size), "b": b"b" * 3000}
    client = Client(files, lose=[("a", 1), ("b", 2)])
    assert client.get("a") == files["a"] and client.get("b") == files["b"]
    assert client.server.requested == ["a", "b"] and client.server.resent == 2 - (size == 0) * 0


def test_tftp_reports_a_missing_file():
    client = Client({"a": b""})
    assert client.get("b") is None and client.server.missing == ["b"]


def test_tftp_starts_again_after_a_reset():
    client = Client({"a": bytes(5000)})
    client.say(69, b"\0\1a\0octet\0blksize\x001024\0")
    for block in 0, 1, 2:
        client.say(client.server.transfer.own_port, b"\0\4" + block.to_bytes(2, "big"))
    client.sent.clear()
    assert client.get("a") == bytes(5000)


def test_tftp_answers_arp_for_its_address_only():
    client = Client({})
    for target in tftp.SERVER, "192.168.1.7":
        client.server.take(frames.arp(frames.REQUEST, BOARD, tftp.CLIENT, frames.BROADCAST, target), 0)
    [reply] = client.sent
    answer = frames.parse(reply)
    assert (answer.operation, answer.source, answer.source_mac) == (frames.REPLY, tftp.SERVER, MAC)


def test_frames_have_checksums_that_scapy_agrees_with():
    from scapy.layers.inet import ICMP, IP, UDP
    from scapy.layers.l2 import ARP, Ether

    macs, addresses = (MAC, BOARD), ("198.18.0.1", "198.18.0.2")
    for made in (
        frames.udp(macs, addresses, (7, 8), b"odd"),
        frames.udp(macs, addresses, (7, 8), bytes(1000)),
        frames.echo(macs, addresses, 3, b"ping of odd length"),
    ):
        packet = Ether(made)
        again = packet.copy()
        del again[IP].chksum
        del again[UDP if UDP in packet else ICMP].chksum
        assert bytes(again) == made and (packet.dst, packet.src) == macs
        assert (packet[IP].dst, packet[IP].src) == addresses
    asked = Ether(frames.arp(frames.REQUEST, BOARD, *addresses[:1], frames.BROADCAST, addresses[1]))
    assert asked[ARP].op == 1 and asked[ARP].pdst == "198.18.0.2"


# console -------------------------------------------------------------------------------------------


def test_runs_a_command(made, capsys):
    with playing(Faults(), fake_board.shell()) as line:
        status = board(
            "console",
            made,
            "--serial",
            line.device,
            "-c",
            "echo 'it works'; exit_() { return 3; }; exit_",
        )
    assert (status, capsys.readouterr().out) == (3, "it works\n")


def test_output_arrives_whole_through_a_line_that_drops_octets(made):
    with (
        playing(Faults(drop=0.0005), fake_board.shell()) as line,
        serial_line.SerialLine(line.device, 1_000_000) as port,
    ):
        there = shell.Shell(port, 3)
        there.connect()
        for _ in range(5):
            assert there.run("seq 200") == (0, "".join(f"{n}\n" for n in range(1, 201)))
    assert there.repeated > 0


@pytest.mark.parametrize(
    "play, says",
    [
        (fake_board.nothing, "nothing answers at"),
        (fake_board.noise, "is not text: another device"),
        (fake_board.modem, "but another device"),
        (fake_board.at_bios_prompt, "is in LiteX's BIOS"),
    ],
)
def test_names_what_is_at_the_line_instead_of_a_shell(play, says):
    with playing(Faults(), play) as line, serial_line.SerialLine(line.device, 1_000_000) as port:
        with pytest.raises(LabError, match=says):
            shell.Shell(port, 0.5).connect()


def test_rejects_what_is_no_serial_line(made, tmp_path, capsys):
    for device, says in (
        (str(tmp_path / "none"), "does not exist"),
        ("/dev/null", "is not a serial line"),
    ):
        assert board("console", made, "--serial", device, "-c", "true") == 1
        error = capsys.readouterr().err
        assert says in error and "serial lines of this machine" in error


def test_one_program_has_the_line(made, capsys):
    with playing(Faults(), fake_board.nothing) as line, serial_line.SerialLine(line.device, 115200):
        assert board("console", made, "--serial", line.device, "-c", "true") == 1
    assert "another program has" in capsys.readouterr().err


def test_line_has_its_settings_again(made):
    with playing(Faults(), fake_board.nothing) as line:
        before = termios.tcgetattr(line.theirs)
        with serial_line.SerialLine(line.device, 115200):
            assert termios.tcgetattr(line.theirs) != before
        assert termios.tcgetattr(line.theirs) == before


def test_console_needs_a_terminal(made, capsys):
    with playing(Faults(), fake_board.nothing) as line:
        assert board("console", made, "--serial", line.device) == 2
    assert "-c" in capsys.readouterr().err


def test_console_relays_until_ctrl_a_x(made):
    words = ["board", "console", "--board", "versa_ecp5", "--folder", str(made), "--serial"]
    with playing(Faults(), fake_board.shell()) as line:
        terminal, theirs = pty.openpty()
        before = termios.tcgetattr(theirs)
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "moderato.sim.lab.cli", *words, line.device],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        )
        said = b""

        def until(text: bytes):
            nonlocal said
            while text not in said:
                said += os.read(terminal, 4096)

        until(b"Ctrl-A x leaves")
        os.write(terminal, b"echo a$((1 + 1))b\r")
        until(b"a2b")
        os.write(terminal, b"\x01x")
        while process.poll() is None:  # it waits until its output is read
            if select.select([terminal], [], [], 0.1)[0]:
                os.read(terminal, 4096)
        assert process.returncode == 0
        assert termios.tcgetattr(theirs) == before
        os.close(terminal)
        os.close(theirs)


# report --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, left",
    [
        ("lladdr 52:54:00:12:34:56, 52-54-00-12-34-5A", "lladdr MAC, MAC"),
        ("02:4d:6f:64:00:00 at 198.18.0.1", "02:4d:6f:64:00:00 at 198.18.0.1"),
        ("inet 10.1.2.3/24, inet6 fe80::5054:ff:fe12:3456/64", "inet ADDRESS/24, inet6 ADDRESS/64"),
        ("at 12:34:56, 0:00, a::", "at 12:34:56, 0:00, ADDRESS"),
        ("DEV: [    0.5] 8:0:1: f0001000.serial", "DEV: [    0.5] 8:0:1: f0001000.serial"),
        ("/home/ada/x of ada at lab.example and lab", "HOME/x of USER at HOST and HOST"),
        ("adapter, label, lab-2", "adapter, label, lab-2"),
        ("enx525400123456: up; /dev/serial/by-id/usb-FT4XYZ-if01", "DEVICE: up; DEVICE"),
        ("Linux version 6.12 (ada@build.example) (gcc 14)", "Linux version 6.12 (BUILDER) (gcc 14)"),
    ],
)
def test_report_has_no_names_and_addresses(text, left, monkeypatch):
    monkeypatch.setattr(report.platform, "node", lambda: "lab.example")
    monkeypatch.setattr(report.getpass, "getuser", lambda: "ada")
    monkeypatch.setenv("HOME", "/home/ada")
    devices = ["enx525400123456", "/dev/serial/by-id/usb-FT4XYZ-if01"]
    assert report.without_names(text, devices) == left
