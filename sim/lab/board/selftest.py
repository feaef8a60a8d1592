# SPDX-License-Identifier: BSD-2-Clause
"""`moderato board selftest`: loads the program that tests a board without Linux, and judges its lines.

soc/firmware/selftest/selftest.h describes the lines. The serial line may lose octets, so the program
prints all of them again if it is asked.
"""

import re
import select
import time
import zlib
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field

from ..show.errors import LabError
from . import bios, boot, built, check, findings
from .built import Built
from .findings import Finding, failed, passed, skipped
from .serial_line import SerialLine

LINE = re.compile(r"(selftest (\d\d) ([a-z-]+)(\d?) (pass|FAIL|skip|info)((?: \S+)*)) \*([0-9a-f]{8})")
START = b"selftest "
RESULT = "result"
QUIET = 60  # seconds without a line; all of a large memory takes 30
TRIES = 5  # of damaged lines
ANSWER = 100  # the program answers in this part of that time
ECHO = bytes(range(0x21, 0x7F))  # what is typed
GIGABIT, GIGABIT_PARTNER = 1 << 9, 1 << 11  # 1000BASE-T full duplex, IEEE 802.3 40.5.1.1
FULL_100, FULL_10 = 1 << 8, 1 << 6  # IEEE 802.3 28.2.4.1
REPORT = "report it with this output and report.md of the bitstream"


@dataclass(frozen=True)
class Line:
    """port: of tests of a port; seconds: when its end arrived."""

    name: str
    port: str
    status: str
    values: dict[str, str]
    seconds: float

    def __getitem__(self, name: str) -> int:
        return int(self.values.get(name, "0"), 0)


@dataclass
class Reader:
    """Lines of the program, by number. damaged: those that did not arrive as they were sent. repeated:
    whether lines were asked for again, so that their time means nothing."""

    line: SerialLine
    timeout: float
    lines: dict[int, Line] = field(default_factory=dict)
    damaged: int = 0
    repeated: bool = False
    echoes: list[Line] = field(default_factory=list)
    _text: bytes = b""

    def read(self) -> bool:
        """Take what arrives next; False: nothing did."""
        if not select.select([self.line], [], [], self.timeout)[0]:
            return False
        self._split(self.line.read())
        return True

    def _split(self, octets: bytes):
        self._text += octets
        if bios.BANNER in self._text:
            raise LabError("the board started again; check its power supply and its reset button")
        *whole, self._text = self._text.split(b"\n")
        for text in whole:
            self._take(text.decode(errors="replace").strip(), time.monotonic())

    def _take(self, text: str, now: float):
        found = LINE.fullmatch(text)
        if not found or zlib.crc32(found[1].encode()) != int(found[7], 16):
            self.damaged += "selftest" in text or bool(self.lines and text)
            return
        pairs = (word.partition("=") for word in found[6].split())
        values = {name: value for name, _, value in pairs}
        seconds = -1.0 if self.repeated else now
        line = Line(found[3], found[4], found[5], values, seconds)
        if line.name == "echo":
            self.echoes.append(line)
        else:
            self.lines.setdefault(int(found[2]), line)

    @property
    def last(self) -> int | None:
        """The number of the result's line."""
        return next((number for number, line in self.lines.items() if line.name == RESULT), None)

    @property
    def complete(self) -> bool:
        return self.last is not None and all(number in self.lines for number in range(self.last))

    def collect(self) -> Iterator[Line]:
        """All lines in order, as early as they are there."""
        self._split(self.line.read())  # what followed the last answer of the boot loader
        given = tries = 0
        while True:
            while given in self.lines:
                yield self.lines[given]
                given += 1
            if self.complete:
                return
            if self.last is None and self.read():
                continue
            if tries == TRIES:
                raise LabError(self._stopped())
            tries += 1
            self._again()

    def _again(self):
        """Ask for all lines once more; wait until no more comes."""
        self.repeated = True
        self.line.type(b"\nrepeat\n")
        quiet, self.timeout = self.timeout, self.timeout / ANSWER
        while self.read() and not self.complete:
            pass
        self.timeout = quiet

    def _stopped(self) -> str:
        if not self.lines:
            return "the self-test was started, and prints nothing; is it of this bitstream (--folder)?"
        if self.last is not None:
            return f"the serial line {self.line.device} loses octets; {findings.LOSSY_LINE}"
        name = self.lines[max(self.lines)].name
        return f"the self-test stopped after its line {name!r}; reset the board, and run it again"

    def echo(self) -> bool:
        """Whether what is typed arrives whole."""
        self.echoes, self._text = [], b""
        self.line.type(ECHO + b"\n")
        quiet, self.timeout = self.timeout, self.timeout / ANSWER
        while not self.echoes and self.read():
            pass
        self.timeout = quiet
        return any(
            line["octets"] == len(ECHO) and line["crc"] == zlib.crc32(ECHO) for line in self.echoes
        )


def dry_run(made: Built, device: str, interface: str | None):
    boot.print_steps(built.with_self_test(made), device, interface)


def self_test(
    made: Built, device: str, interface: str | None, only: Collection[str] = ()
) -> Iterator[Finding]:
    """Findings, as lines arrive. interface: for TFTP; none: over the serial line. only: some of
    findings.SELF_TEST; none: all."""
    made = built.with_self_test(made)
    with boot.started(made, device, interface) as (job, found):
        at = job.text.find(START)  # by TFTP, the first octets may have been read
        if at >= 0:
            job.line.unread(job.text[at:])
        print()
        yield from _chosen([*job.judged, *found], ())
        reader = Reader(job.line, QUIET * made.slow)
        begun = None
        try:
            for line in reader.collect():
                if line.name == "clock-begin":
                    begun = line
                else:
                    yield from _chosen(judge(made, line, begun), only)
            arrived = reader.echo()
        except LabError as error:
            yield failed("self-test", str(error), "correct this first; then repeat all")
            return
        yield from _chosen([_serial_line(reader, arrived)], only)


def _chosen(found: Collection[Finding], only: Collection[str]) -> Iterator[Finding]:
    return (each for each in found if not only or each.name.startswith(tuple(only)))


def _serial_line(reader: Reader, arrived: bool) -> Finding:
    if reader.damaged or reader.repeated:
        return failed(
            "serial line",
            f"{reader.damaged or 'some'} lines arrived damaged, and were asked for again",
            findings.LOSSY_LINE,
        )
    if not arrived:
        return failed("serial line", "what is typed does not arrive", findings.LOSSY_LINE)
    return passed("serial line", "every octet arrived in both directions")


# Each line -----------------------------------------------------------------------------------------


def judge(made: Built, line: Line, begun: Line | None) -> list[Finding]:
    """begun: the line at the begin of the clock's test."""
    if line.name == "clock-end":
        return [_clock(made, line, begun)]
    judges = _JUDGES.get(line.name)
    if not judges:
        return []
    name, of = judges
    name += f" {line.port}" * bool(line.port)
    if name.startswith("interrupt"):
        name += f" {line.name[:2]}"
    if line.status == findings.SKIP:
        return [skipped(name, SKIPPED[line.values["reason"]])]
    return [of(made, name, line)]


def _image(made: Built, name: str, line: Line) -> Finding:
    content = made.images[-1][0].read_bytes()
    if line["crc"] == zlib.crc32(content[: line["octets"]]):
        return passed(name, f"{line['octets']} octets are those of commit {made.report.get('commit')}")
    return failed(
        name,
        f"the {line['octets']} octets in the board's memory are not those of {made.images[-1][0]}",
        "load it again; if it repeats, look at the DRAM's lines",
    )


def _clock(made: Built, end: Line, begun: Line | None) -> Finding:
    cycles, hz = end["cycles"], made.soc["sys_clk_hz"]
    if begun is None or begun.seconds < 0 or end.seconds < 0:
        return skipped("clock", "a line of it was damaged")
    seconds = end.seconds - begun.seconds
    said = f"{cycles} cycles in {seconds:.2f} s of this machine"
    if made.simulated:
        return skipped("clock", f"{said}; simulated: not judged")
    mhz = cycles / seconds / 1e6
    if abs(mhz / (hz / 1e6) - 1) > check.CLOCK_ERROR:
        return failed(
            "clock",
            f"{said}: the clock runs at {mhz:.3f} MHz instead of {hz / 1e6:.3f}",
            findings.OTHER_CLOCK,
        )
    return passed("clock", f"{said}: {mhz:.2f} MHz")


def _bits(mask: int) -> str:
    """Numbers of bits, such as 0-3, 7."""
    runs = re.finditer("1+", f"{mask:b}"[::-1])
    return ", ".join(
        f"{run.start()}-{run.end() - 1}" if run.end() - run.start() > 1 else f"{run.start()}"
        for run in runs
    )


def _data(made: Built, name: str, line: Line) -> Finding:
    if line.status == findings.PASS:
        return passed(name, "each of 128 data bits of a burst is independent")
    bits = line["bits"]
    return failed(
        name,
        f"{line['errors']} words are wrong, in bits {_bits(bits)}",
        bios.NO_DATA if bits == 0xFFFF_FFFF else bios.DATA_LINE,
    )


def _lines(made: Built, name: str, line: Line) -> Finding:
    if line.status == findings.PASS:
        return passed(name, f"address bits {_bits(line['lines'])} are independent")
    return failed(name, f"address bits {_bits(line['bad'])} are wrong", bios.ADDRESS_LINE)


def _words(made: Built, name: str, line: Line) -> Finding:
    words = line["octets"] // 4
    if line.status == findings.PASS:
        return passed(name, f"{words} words, in two passes")
    return failed(
        name,
        f"{line['errors']} words of {words} are wrong, the first at {line['first']:#010x}, in bits "
        f"{_bits(line['bits'])}",
        bios.SINGLE_WORDS,
    )


def _speed(made: Built, name: str, line: Line) -> Finding:
    per_cycle = line["octets"] * made.soc["sys_clk_hz"] / 1e6
    write, read = (per_cycle / max(1, line[f"{way}-cycles"]) for way in ("write", "read"))
    return passed(name, f"write {write:.1f} MB/s, read {read:.1f} MB/s")


def _phy(made: Built, name: str, line: Line) -> Finding:
    if "id" not in line.values:
        return failed(name, "no chip answers at MDIO", findings.NO_CHIP)
    said = f"chip {line['id']:#010x} at address {line['address']}"
    if line.status == findings.FAIL:
        return failed(name, f"{said}: no link", findings.NO_LINK)
    speed = _negotiated(line)
    if made.soc.get("link") == "fixed" and speed not in (0, 1000):
        return failed(
            name,
            f"{said}: the link has {speed} Mb/s",
            "the FPGA's ports are fixed at 1000 Mb/s; use a gigabit port, or --link negotiated",
        )
    return passed(name, f"{said}: link up, " + (f"{speed} Mb/s" if speed else "not negotiated"))


def _negotiated(line: Line) -> int:
    """Mb/s of the best full-duplex mode of both ends; 0: none."""
    common = line["advertised"] & line["partner"]
    if line["gigabit"] & GIGABIT and line["gigabit-partner"] & GIGABIT_PARTNER:
        return 1000
    return 100 if common & FULL_100 else 10 if common & FULL_10 else 0


def _mac(made: Built, name: str, line: Line) -> Finding:
    said = f"version {line['version'] >> 16}.{line['version'] & 0xFFFF}"
    if line.status == findings.PASS:
        return passed(name, f"{said}, {line['clock'] / 1e6:g} MHz")
    if line["stopped"]:
        return failed(
            name, f"its ID reads {line['id']:#010x}", "the FPGA has another bitstream; flash this one"
        )
    return failed(name, f"{said}: it does not stop", f"reset the board; if it repeats, {REPORT}")


def _cable(made: Built, name: str, line: Line) -> Finding:
    to = line["to"]
    said = (
        f"{line['sent']} frames to port {to}: {line['intact']} intact, {line['damaged']} damaged, "
        f"{line['lost']} lost"
    )
    if line.status == findings.PASS:
        return passed(name, f"{said}, 64 to 1518 octets")
    if line["stuck"]:
        return failed(
            name,
            f"{said}; the MAC sends nothing",
            "the PHY gives no clock: connect the cable; then check the chips' reset in the board's file",
        )
    if line["fcs-errors"]:
        return failed(name, f"{said}; port {to} counts {line['fcs-errors']} damaged", findings.DAMAGED)
    if not line["intact"] and not line["damaged"]:
        return failed(
            name,
            said,
            "connect one cable from port 0 to port 1, without a switch; look at the ports' LEDs",
        )
    if line["damaged"]:
        return failed(
            name, f"{said}, with a right FCS", f"correct the DRAM first; if it repeats, {REPORT}"
        )
    if line["dropped"]:
        return failed(name, f"{said}; port {to} dropped {line['dropped']}", REPORT)
    return failed(name, said, "repeat it with another cable; then with another board")


def _interrupt(made: Built, name: str, line: Line) -> Finding:
    source, claimed = line["source"], line["claimed"]
    if line.status == findings.PASS:
        return passed(name, f"source {source} of the PLIC")
    if not line["raised"]:
        said = "the MAC did not raise it"
    elif not claimed:
        said = f"the MAC raised it, and the PLIC has no interrupt of source {source}"
    elif claimed != source:
        said = f"it arrived as source {claimed} of the PLIC, not as {source}"
    else:
        said = f"source {source} remains after it was served"
    return failed(name, said, f"soc.json and the FPGA's bitstream differ: flash again, or {REPORT}")


def _coherency(made: Built, name: str, line: Line) -> Finding:
    said = f"{line['rounds']} frames into a buffer that the CPU reads"
    if line.status == findings.PASS:
        return passed(name, said)
    if line["stale"]:
        return failed(name, f"{said}: {line['stale']} octets were old in the cache", REPORT)
    if line["damaged"]:
        return failed(name, f"{said}: {line['damaged']} octets are wrong", "correct the cable first")
    return failed(
        name, f"{said}, of {line['of']}; the next one was lost", "correct the cable's line first"
    )


def _timers(made: Built, name: str, line: Line) -> Finding:
    text = ", ".join(f"{each} {line[each]}" for each in ("packet", "absolute", "gap"))
    said = f"{text} for {line['set']} clocks"
    if line.status == findings.PASS:
        return passed(name, said)
    return failed(name, said, f"the MAC's timers count another clock than the CPU's: {REPORT}")


SKIPPED = {
    "no-mdio": "the bitstream has no MDIO for this port",
    "at-bus-of-port-0": "its chip is at the MDIO of port 0",
    "one-port": "the board has one port",
    "no-cable": "no frame arrived at this port",
}
_JUDGES: dict[str, tuple[str, Callable[[Built, str, Line], Finding]]] = {
    "image": ("image", _image),
    "dram-walk": ("DRAM data", _data),
    "dram-lines": ("DRAM lines", _lines),
    "dram-address": ("DRAM address", _words),
    "dram-random": ("DRAM random", _words),
    "dram-speed": ("DRAM speed", _speed),
    "phy": ("PHY", _phy),
    "mac": ("MAC", _mac),
    "cable": ("cable", _cable),
    "tx-interrupt": ("interrupt", _interrupt),
    "rx-interrupt": ("interrupt", _interrupt),
    "coherency": ("coherency", _coherency),
    "timers": ("timers", _timers),
}
