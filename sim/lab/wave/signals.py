# SPDX-License-Identifier: BSD-2-Clause
"""A SoC's signals by rooms, and the choice of signals for a wave."""

import difflib
import fnmatch
import functools
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from moderato.toolchain.cache import artifact

from ..run.session import Session
from ..show.errors import UsageError

SOC = "TOP.top.soc."
SAMPLE = 2  # the cycle in which the names are recorded

# Rooms of a MAC by the classes of its stages. {queue}: the number of a queue.
ROOMS = {
    r"simphy|maccore|pausesource": "wire",
    r"receive|rxstamp|rxqueues": "rx",
    r"transmit|txqueues|txchecksum|txstamps": "tx",
    r"rxring": "{queue}.rx",
    r"txring|gatherring": "{queue}.tx",
    r"moderation|pacing": "{queue}.moderation",
    r"registerfile|statistics|rmon|clock|time|output": "registers",
    r"dmareader|dmawriter|aw|w|b|ar|r": "dma",
    r"irq|events|onebyone|datapath": "interrupts",
    r"flows|ticker": "flows",
}
# The default signals of a wave, by room without the MAC's number: connections of stages, rings,
# moderation, interrupts, the CPU's instructions.
FIFO = r"framefifo\d+_(frames|used|write|commit|abort|overflow|available|release|head_length)"
RING = (
    r"(fetcher_(producer|available|starved)|completions_(index|in_flight|waiting|done|completion)|"
    r"completions_status_(written|LENGTH|ERROR|PHASE)|"
    r"drop_ring|drop_buffer|address|remaining|request_(valid|ready|payload_address))"
)
DEFAULT = {
    "wire": r"eth\d_[rt]x_(valid|last|error|data|bytes)",
    "rx": rf"receive\d+_(sink_(valid|last|payload_data)|length|good|damaged|filtered)|{FIFO}",
    "tx": rf"transmit\d+_(source_(valid|ready|last|payload_data)|length)|{FIFO}",
    "queue.rx": rf"(\w+_)?(rxring\d+_)+{RING}",
    "queue.tx": rf"(\w+_)?((tx|gather)ring\d+_)+{RING}",
    "queue.moderation": r"(\w+_)?moderation\d+_(armed|unreported|completed|rearm|disarm|raised|line|"
    r"packet_count|absolute_count|gap_count|by_\w+)|(\w+_)?pacing\d+_level",
    "registers": r"registerfile\d+_(strobe_[rt]x\d*_(doorbell|rearm|disarm)|"
    r"reg_(ctrl|status)_[RT]X\d*_\w+)",
    "dma": r"(aw|ar)_(valid|ready|payload_(addr|len))|[wr]_(valid|ready|last)|b_(valid|ready)",
    "interrupts": r"irq_\w+",
    "flows": r"flows\d+_(hit|full|sends|table_(search|searched|found|hit|entry)|waiting_frames|"
    r"packet\d_(good|passed|plain)|forward\d_(known|taken|commit|dropped)|fifo_(frames|used|commit|release))",
    "cpu": r"cpu\d_(wfi|trace_valid|trace_pc|trace_privilege)",
}
TEXT = r"\w+_text"  # the state of an FSM (harness/values.py), shown by default in any room
WORD = re.compile(r"data|addr|_pc$|base|pointer|hash|mac_|mask")  # shown in hexadecimal


@dataclass(frozen=True)
class Signal:
    path: str  # in the file, with dots
    bits: int
    room: str = ""
    top: str = SOC  # what all paths begin with

    @property
    def name(self) -> str:
        """The signal's name in the sources."""
        return self.path.removeprefix(self.top)

    @property
    def stage_name(self) -> str:
        """The name without the MAC's prefix."""
        return re.sub(r"^moderatomac\d_", "", self.name)

    @property
    def is_text(self) -> bool:
        return bool(re.fullmatch(TEXT, self.name))

    @property
    def hexadecimal(self) -> bool:
        return self.bits > 16 or (self.bits > 1 and bool(WORD.search(self.name)))


@functools.cache
def of_simulator(simulator: Path) -> list[Signal]:
    """The signals of a simulator with tracing, read from a wave of all signals."""

    def build(folder: Path):
        from pywellen import Waveform  # pyright: ignore[reportAttributeAccessIssue]

        with Session(simulator) as session:
            session.call("wave", file=str(folder / "all.fst"), **{"from": SAMPLE}, until=SAMPLE)
            session.call("run", cycles=SAMPLE)
            session.call("wave", stop=True)
        found = {
            var.full_name: var.bitwidth or 1
            for var in Waveform(str(folder / "all.fst")).all_vars()
            if var.full_name.startswith(SOC)
        }
        (folder / "all.fst").unlink()
        (folder / "signals.json").write_text(json.dumps(sorted(found.items())))

    made = artifact("signals", [simulator.parent.name, Path(__file__)], build)
    return in_rooms(json.loads((made / "signals.json").read_text()))


def in_rooms(named: Sequence[tuple[str, int]]) -> list[Signal]:
    """Signals from their paths and numbers of bits."""
    names = [path.removeprefix(SOC) for path, _ in named]
    numbers: dict[str, list[int]] = {}  # of repeated parts: LiteX numbers them over all MACs
    for name in names:
        for each in re.finditer(r"^(moderatomac\d_)(?:(queue)|(framefifo))(\d+)_", name):
            places = numbers.setdefault(each[1] + (each[2] or each[3]), [])
            if int(each[4]) not in places:
                places.append(int(each[4]))
    for places in numbers.values():
        places.sort()
    return [Signal(path, bits, _room(path.removeprefix(SOC), numbers)) for path, bits in named]


def _room(name: str, numbers: dict[str, list[int]]) -> str:
    if found := re.match(r"(?:moderatomac(\d)_|(?:eth|simphy)(\d)_)", name):
        mac = f"mac{found[1] or found[2]}"
        rest = name[found.end() :] if found[1] else "simphy0_"
        queue = 0
        if inner := re.match(r"queue(\d+)_", rest):
            queue = numbers[f"moderatomac{found[1]}_queue"].index(int(inner[1]))
            rest = rest[inner.end() :]
        if fifo := re.match(r"framefifo(\d+)_", rest):
            first, *_ = numbers[f"moderatomac{found[1]}_framefifo"]
            return f"{mac}.{'rx' if int(fifo[1]) == first else 'tx'}"
        for classes, room in ROOMS.items():
            if re.match(rf"({classes})\d*(_|$)", rest):
                return f"{mac}.{room.format(queue=f'queue{queue}')}"
        return f"{mac}.other"
    if found := re.match(r"cpu(\d)_|\w+\.harts_(\d)_", name):
        return f"cpu{found[1] or found[2]}"
    if re.search(r"dram|ddrphy|dfi", name):
        return "dram"
    if re.match(r"ModeratoCluster\.|interface\d|shared|slave_|axi|wishbone|adapter", name):
        return "bus"
    return "soc"


def rooms(signals: Sequence[Signal]) -> list[str]:
    """All rooms, and their parents: mac0 for mac0.rx."""
    found = set()
    for signal in signals:
        words = signal.room.split(".")
        found.update(".".join(words[: number + 1]) for number in range(len(words)))
    return sorted(found)


def choose(
    signals: Sequence[Signal], scopes: Sequence[str] = (), globs: Sequence[str] = ()
) -> list[Signal]:
    """The signals of rooms, and those whose names match a glob; without both, the default. For an
    unknown room or name, a UsageError lists similar ones."""
    known = rooms(signals)
    for scope in scopes:
        if scope not in known:
            raise UsageError(f"--scope {scope} is not a room; {_near(scope, known)}")
    for glob in globs:
        if not any(_matches(signal, glob) for signal in signals):
            names = {signal.stage_name: signal.name for signal in reversed(signals)}  # of MAC 0
            near = _near(glob.strip("*"), sorted(names), names)
            raise UsageError(f"--signals {glob} matches no signal; {near}")
    if not scopes and not globs:
        return [signal for signal in signals if is_default(signal)]
    return [
        signal
        for signal in signals
        if any(f"{signal.room}.".startswith(f"{scope}.") for scope in scopes)
        or any(_matches(signal, glob) for glob in globs)
    ]


def is_default(signal: Signal) -> bool:
    """Whether a wave shows it by default."""
    room = re.sub(r"^mac\d\.|\d", "", signal.room)
    return room in DEFAULT and bool(re.fullmatch(f"{DEFAULT[room]}|{TEXT}", signal.stage_name))


def _matches(signal: Signal, glob: str) -> bool:
    return fnmatch.fnmatchcase(signal.name, glob) or fnmatch.fnmatchcase(signal.path, glob)


def _near(word: str, known: Sequence[str], shown: Mapping[str, str] | None = None) -> str:
    """Known words that are similar to `word`, in the form for messages."""
    near = difflib.get_close_matches(word, known, n=4, cutoff=0.3)
    found = ", ".join((shown or {}).get(each, each) for each in near or known[:20])
    return f"near it: {found}" if near else f"there are: {found}"
