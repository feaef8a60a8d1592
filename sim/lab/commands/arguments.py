# SPDX-License-Identifier: BSD-2-Clause
"""Values of the command line: converts words to checked values, or raises a UsageError."""

import argparse
import dataclasses
import difflib
import re
import shlex
from collections.abc import Collection

from moderato.boards import BOARDS, SIMULATED
from moderato.gateware.registers.table import INDEX_BITS, registers
from moderato.sim.limits import MAX_CONNECTIONS, MAX_STREAMS, MAX_WINDOW, MIN_WINDOW

from ..run.ethtool import OTHERS, SHOWN_BY
from ..run.system import MAX_CLOCK, MIN_CLOCK
from ..run.variants import ALL, INTERFACES, KNOWN, VARIANTS
from ..strategies.settings import VARIANTS as STRATEGIES
from ..strategies.situations import SITUATIONS
from ..tcp.transfer import DIRECTIONS, FAULTS, FEATURES
from ..wave import triggers

STUDIES = ("forward", "rfc2544", "tcp", "strategies", "harts")  # those in published.py
MIN_FRAME, MAX_FRAME = 64, 1518  # octets, destination address to FCS (IEEE 802.3)
LINKS = (10, 100, 1000)  # Mb/s
MIN_INTERVAL, MAX_INTERVAL = 1000, 1_000_000_000  # ns between two launch times
MIN_LOAD = 0.001  # percent: 3 frames of 64 bytes in 2 s at 100 Mb/s
MAX_FRAMES = 100_000_000  # a day of simulation at 100 Mb/s
COMPARED = ("forward", "profile", "tcp")
OUTPUTS = ("--json", "--pcap", "--folded", "--flame-graph", "--help", "-h")
RFC2544 = ("throughput", "latency", "loss", "burst", "recovery", "reset")
MAX_PHASES = 16
MAX_OCTETS = 1 << 30  # in a transfer or a buffer
MAX_SETTING = 400  # characters: the guest's shell rejects lines of a thousand
MIN_PACE, MAX_PACE = 0.0001, 1000
MAX_BOXES, MAX_DELAY = 2, 20_000  # ns: 4 km of fibre; moderato-sim accepts 10 000 cycles
MAX_CYCLES = 100_000_000  # in a wave
MIN_RESOLUTION, MAX_RESOLUTION = 0.1, 10.0  # percent


def variant(word: str) -> str:
    """One variant's name."""
    return _known(word, KNOWN, "variant")


def any_variant(word: str) -> str:
    """As `variant`, or one that bypasses the stack."""
    return _known(word, ALL, "variant")


def variant_list(words: str) -> list[str]:
    """`all` (the paper's variants), or names separated by commas; duplicates are removed, the order is
    kept."""
    return _known_list(words, KNOWN, "variant", VARIANTS)


def fast_list(words: str) -> list[str]:
    """As `variant_list`, also with the variants that bypass the stack."""
    return _known_list(words, ALL, "variant", VARIANTS)


def rfc2544_tests(words: str) -> list[str]:
    """`all`, or some of RFC 2544's tests, as `variant_list`."""
    return _known_list(words, RFC2544, "test", RFC2544)


def strategy_list(words: str) -> list[str]:
    """`all`, or names separated by commas; duplicates are removed, the order is kept."""
    return _known_list(words, STRATEGIES, "strategy", STRATEGIES)


def situation_list(words: str) -> list[str]:
    """As `strategy_list`."""
    return _known_list(words, SITUATIONS, "situation", SITUATIONS)


def study_list(words: str) -> list[str]:
    """As `strategy_list`."""
    return _known_list(words, STUDIES, "study", STUDIES)


def board(word: str) -> str:
    """The name of a board."""
    return _known(
        word,
        BOARDS,
        "board",
        "another ECP5 board: docs/boards.md#another-ecp5-board; "
        "any of litex-boards: examples/litex-boards",
    )


def desk_board(word: str) -> str:
    """As `board`, or the simulated one."""
    return word if word == SIMULATED else board(word)


def _known(word: str, known: Collection[str], what: str, else_: str = "") -> str:
    """else_: advice if no known word resembles it."""
    if word in known:
        return word
    close = difflib.get_close_matches(word, known, n=1)
    hint = f"; did you mean {close[0]}?" if close else f"; {else_}" if else_ else ""
    raise argparse.ArgumentTypeError(f"unknown {what} {word!r}{hint} (known: {', '.join(known)})")


def _known_list(words: str, known: Collection[str], what: str, every: Collection[str]) -> list[str]:
    if words == "all":
        return list(every)
    return list(dict.fromkeys(_known(word.strip(), known, what) for word in words.split(",")))


def frame_size(word: str) -> int:
    size = _integer(word, "a frame size")
    if not MIN_FRAME <= size <= MAX_FRAME:
        raise argparse.ArgumentTypeError(
            f"{size}: an Ethernet frame has {MIN_FRAME} to {MAX_FRAME} octets with its FCS"
        )
    return size


def frame_sizes(words: str) -> list[int]:
    """Frame sizes separated by commas; duplicates are removed, the order is kept."""
    return list(dict.fromkeys(frame_size(word) for word in words.split(",")))


def load(word: str) -> int | float:
    """Percent of the line rate."""
    percent = _number(word, "a number of percent")
    if not MIN_LOAD <= percent <= 100:  # also rejects NaN
        raise argparse.ArgumentTypeError(f"{word}: a load is {MIN_LOAD} to 100 percent of the line rate")
    return int(percent) if percent == int(percent) else percent


def loads(words: str) -> list[int | float]:
    """Loads separated by commas; duplicates are removed, the order is kept."""
    return list(dict.fromkeys(load(word) for word in words.split(",")))


def frames(word: str) -> int:
    count = _integer(word, "a number of frames")
    if not 1 <= count <= MAX_FRAMES:
        raise argparse.ArgumentTypeError(
            f"{count}: a trial offers 1 to {MAX_FRAMES:,} frames to each port".replace(",", " ")
        )
    return count


def interval(word: str) -> int:
    nanoseconds = _integer(word, "a number of nanoseconds")
    if not MIN_INTERVAL <= nanoseconds <= MAX_INTERVAL:
        raise argparse.ArgumentTypeError(
            f"{nanoseconds}: an interval is {MIN_INTERVAL} to {MAX_INTERVAL} nanoseconds"
        )
    return nanoseconds


def seconds(word: str) -> float:
    """Simulated time, at most 60 s: RFC 2544's trials are not longer."""
    value = _number(word, "a number of seconds")
    if not 0 < value <= 60:
        raise argparse.ArgumentTypeError(f"{word}: give more than 0 and at most 60 seconds")
    return value


def link(word: str) -> int:
    rate = _integer(word, "a line rate")
    if rate not in LINKS:
        raise argparse.ArgumentTypeError(f"{rate}: the line rate is 10, 100 or 1000 Mb/s")
    return rate


def clock(word: str) -> int:
    """The SoC's clock in MHz."""
    rate = _integer(word, "a whole number of MHz")
    if not MIN_CLOCK <= rate <= MAX_CLOCK:
        raise argparse.ArgumentTypeError(f"{rate}: the SoC's clock is {MIN_CLOCK} to {MAX_CLOCK} MHz")
    return rate


def links(words: str) -> list[int]:
    """Line rates separated by commas; duplicates are removed, the order is kept."""
    return list(dict.fromkeys(link(word) for word in words.split(",")))


def directions(words: str) -> list[str]:
    """`all`, or directions separated by commas; duplicates are removed, the order is kept."""
    return _known_list(words, DIRECTIONS, "direction", DIRECTIONS)


def faults(words: str) -> list[str]:
    """As `directions`."""
    return _known_list(words, FAULTS, "fault", FAULTS)


def features(words: str) -> list[str]:
    """As `directions`."""
    return _known_list(words, FEATURES, "feature", FEATURES)


def octets(word: str) -> int:
    count = _integer(word, "a number of octets")
    if not 1 <= count <= MAX_OCTETS:
        raise argparse.ArgumentTypeError(f"{count}: give 1 to {MAX_OCTETS} octets")
    return count


def octets_list(words: str) -> list[int]:
    """Numbers of octets separated by commas; duplicates are removed, the order is kept."""
    return list(dict.fromkeys(octets(word) for word in words.split(",")))


def window(word: str) -> int:
    count = _integer(word, "a number of octets")
    if not MIN_WINDOW <= count <= MAX_WINDOW:
        raise argparse.ArgumentTypeError(
            f"{count}: a receive window is {MIN_WINDOW} to {MAX_WINDOW} octets"
        )
    return count


def connections(word: str) -> int:
    count = _integer(word, "a number of connections")
    if not 1 <= count <= MAX_CONNECTIONS:
        raise argparse.ArgumentTypeError(f"{count}: give 1 to {MAX_CONNECTIONS} connections")
    return count


def phases(word: str) -> int:
    count = _integer(word, "a number of phases")
    if not 1 <= count <= MAX_PHASES:
        raise argparse.ArgumentTypeError(f"{count}: a search is done with 1 to {MAX_PHASES} phases")
    return count


def streams(word: str) -> int:
    count = _integer(word, "a number of streams")
    if not 1 <= count <= MAX_STREAMS:
        raise argparse.ArgumentTypeError(f"{count}: a port gets 1 to {MAX_STREAMS} streams")
    return count


def seeds(words: str) -> list[int]:
    """Placement seeds separated by commas; duplicates are removed."""
    return list(dict.fromkeys(_seed(word) for word in words.split(",")))


def _seed(word: str) -> int:
    seed = _integer(word, "a seed")
    if not 0 <= seed < 1 << 31:
        raise argparse.ArgumentTypeError(f"{seed}: a seed is 0 to {(1 << 31) - 1}")
    return seed


def compared(words: str) -> list[str]:
    """A command to compare, with its options."""
    from ..cli import parse  # which imports the commands

    try:
        name, *options = shlex.split(words)
    except ValueError:
        name, options = words, []
    if name not in COMPARED:
        raise argparse.ArgumentTypeError(
            f"{name!r} is not among what commits are compared by: " + ", ".join(COMPARED)
        )
    if any(word.partition("=")[0] in OUTPUTS for word in options):
        raise argparse.ArgumentTypeError(
            f"leave {', '.join(OUTPUTS)} out: what the command writes is compared"
        )
    parse([name, *options])
    return [name, *options]


def ethtool(words: str) -> str:
    """A setting in ethtool's words, without the interface."""
    try:
        option, *values = shlex.split(words)
    except ValueError:
        option, values = "", []
    if not option.startswith("-") or not words.isprintable():
        raise argparse.ArgumentTypeError(
            f"{words!r} is not a setting; write ethtool's option and its words, such as '-C rx-usecs 50'"
        )
    if len(words) > MAX_SETTING:
        raise argparse.ArgumentTypeError(
            f"{words[:20]!r}... has {len(words)} characters; a setting has up to {MAX_SETTING}"
        )
    if option not in (*SHOWN_BY, *OTHERS):
        raise argparse.ArgumentTypeError(
            f"{option} is not an option that sets something, as "
            "-A, -C, -G, -K, -L, -N, -X, -s and others are"
        )
    if named := set(INTERFACES) & set(values):
        raise argparse.ArgumentTypeError(
            f"leave {min(named)} out of {words!r}: it is set for both ports"
        )
    if option in SHOWN_BY and (not values or len(values) % 2):
        raise argparse.ArgumentTypeError(
            f"{words!r} lacks a name or a value; write each name with its "
            "value, such as '-C rx-usecs 50'"
        )
    return words


def resolution(word: str) -> float:
    """A search's resolution, in percent of the rate."""
    percent = _number(word, "a number of percent")
    if not MIN_RESOLUTION <= percent <= MAX_RESOLUTION:
        raise argparse.ArgumentTypeError(
            f"{word}: a search's resolution is {MIN_RESOLUTION} to {MAX_RESOLUTION} percent of the rate"
        )
    return percent


def cycle(word: str) -> int:
    """A cycle since reset."""
    number = _integer(word, "a whole number of cycles")
    if number < 0:
        raise argparse.ArgumentTypeError(f"{word}: cycles are counted from 0, at reset")
    return number


def cycles(word: str) -> int:
    """A number of cycles."""
    number = _integer(word, "a whole number of cycles")
    if not 0 <= number <= MAX_CYCLES:
        raise argparse.ArgumentTypeError(f"{word}: a wave has up to {MAX_CYCLES} cycles")
    return number


def occurrence(word: str) -> int:
    number = _integer(word, "a number")
    if number < 1:
        raise argparse.ArgumentTypeError(f"{word}: the first time is 1")
    return number


def trigger(text: str) -> triggers.Trigger:
    """What a wave waits for."""
    try:
        found = triggers.parse(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: after = comes a whole number") from None
    name = _known(found.kind, triggers.KINDS, "trigger")
    kind = triggers.KINDS[name]
    if not kind.needed <= len(found.words) <= len(kind.words) or not all(found.words):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not {kind.form(name)}, such as {kind.example or f'{name}:0'}"
        )
    if (found.value is not None and not kind.value) or (name == triggers.VALUE and found.value is None):
        raise argparse.ArgumentTypeError(f"{text!r} is not {kind.form(name)}")
    words = []
    for what, word in zip(kind.words, found.words):
        if what == "PORT" and word not in ("0", "1"):
            raise argparse.ArgumentTypeError(f"{text!r}: the ports are 0 and 1, such as {name}:0")
        if what == "INDEX" and not 0 <= _integer(word, "an index") < 1 << INDEX_BITS:
            raise argparse.ArgumentTypeError(f"{text!r}: an index is 0 to {(1 << INDEX_BITS) - 1}")
        if what == "NAME" and name != triggers.FUNCTION:
            word = _register(word.upper())
        words.append(word)
    return dataclasses.replace(found, words=tuple(words))


def _register(word: str) -> str:
    names = [each.name for each in registers()]
    if word not in names:
        near = ", ".join(difflib.get_close_matches(word, names, n=4, cutoff=0.4)) or "none"
        raise argparse.ArgumentTypeError(
            f"{word!r} is not a register of the MAC (docs/registers.md); near it: {near}"
        )
    return word


def rooms(words: str) -> list[str]:
    """Names of rooms separated by commas; duplicates are removed. The SoC decides which exist."""
    if not re.fullmatch(r"[a-z0-9.]+(,[a-z0-9.]+)*", words):
        raise argparse.ArgumentTypeError(f"{words!r} is not a list of rooms, such as mac0.rx,cpu0")
    return list(dict.fromkeys(words.split(",")))


def pace(word: str) -> float:
    """Simulated seconds per wall-clock second."""
    ratio = _number(word, "a number")
    if not MIN_PACE <= ratio <= MAX_PACE:
        raise argparse.ArgumentTypeError(
            f"{word}: the pace is {MIN_PACE} to {MAX_PACE} simulated seconds in a second"
        )
    return ratio


def boxes(word: str) -> int:
    count = _integer(word, "a number of boxes")
    if not 1 <= count <= MAX_BOXES:
        raise argparse.ArgumentTypeError(f"{count}: a session has 1 box or 2")
    return count


def delay(word: str) -> int:
    """The wire's delay in ns."""
    value = _integer(word, "a whole number of ns")
    if not 0 <= value <= MAX_DELAY:
        raise argparse.ArgumentTypeError(f"{word}: the delay of a wire is 0 to {MAX_DELAY} ns")
    return value


def scheduler(word: str) -> str:
    """The address of a dask scheduler, tcp://HOST:PORT or HOST:PORT."""
    if not re.fullmatch(r"((tcp|tls|ws|wss|ucx)://)?[^/\s]+:\d+", word):
        raise argparse.ArgumentTypeError(
            f"{word!r} is not a scheduler's address, such as tcp://192.0.2.1:8786"
        )
    if not 1 <= _integer(word.rpartition(":")[2], "a port") <= 65535:
        raise argparse.ArgumentTypeError(f"{word}: a scheduler's port is 1 to 65535")
    return word


def _number(word: str, what: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{word!r} is not {what}") from None


def _integer(word: str, what: str) -> int:
    try:
        return int(word, 10)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{word!r} is not {what}") from None
