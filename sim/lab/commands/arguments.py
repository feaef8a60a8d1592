# SPDX-License-Identifier: BSD-2-Clause
"""Values of the command line: from words to checked values, or a UsageError that says why not."""

import argparse
import difflib
import os
import re
import shlex
import tempfile
from collections.abc import Collection
from pathlib import Path

from moderato.boards import BOARDS

from ..run.variants import INTERFACES, KNOWN, VARIANTS
from ..show import outputs
from ..strategies.settings import VARIANTS as STRATEGIES
from ..strategies.situations import SITUATIONS
from ..tcp.transfer import DIRECTIONS, FAULTS, FEATURES

STUDIES = ("rfc2544", "tcp", "strategies", "harts")  # of published.py
MIN_FRAME, MAX_FRAME = 64, 1518  # octets, destination address to FCS (IEEE 802.3)
LINKS = (10, 100, 1000)          # Mb/s
MIN_LOAD = 0.001                 # percent: at 100 Mb/s 3 frames of 64 bytes in 2 s
MAX_FRAMES = 100_000_000         # at 100 Mb/s a day of simulation
COMPARED = ("forward", "profile", "tcp")
OUTPUTS = ("--json", "--pcap", "--folded", "--flame-graph", "--help", "-h")
RFC2544 = ("throughput", "latency", "loss", "burst", "recovery", "reset")
MAX_PHASES = 16
MAX_FLOWS = 4096  # as moderato-sim has them
MAX_OCTETS = 1 << 30             # of a transfer, or of a buffer
MIN_WINDOW, MAX_WINDOW = 2048, 16 << 20  # octets
MAX_CONNECTIONS = 64
MAX_SETTING = 400                # characters: the guest's shell takes no line of a thousand
MIN_RESOLUTION, MAX_RESOLUTION = 0.1, 10.0  # percent


def variant(word: str) -> str:
    """One variant's name."""
    return _known(word, KNOWN, "variant")


def variant_list(words: str) -> list[str]:
    """`all`, which are the paper's, or names with commas between them; each once, in the order
    given."""
    return _known_list(words, KNOWN, "variant", VARIANTS)


def rfc2544_tests(words: str) -> list[str]:
    """`all`, or some of RFC 2544's tests; as `variant_list`."""
    return _known_list(words, RFC2544, "test", RFC2544)


def strategy_list(words: str) -> list[str]:
    """`all`, or names with commas between them; each once, in the order given."""
    return _known_list(words, STRATEGIES, "strategy", STRATEGIES)


def situation_list(words: str) -> list[str]:
    """As `strategy_list`."""
    return _known_list(words, SITUATIONS, "situation", SITUATIONS)


def study_list(words: str) -> list[str]:
    """As `strategy_list`."""
    return _known_list(words, STUDIES, "study", STUDIES)


def board(word: str) -> str:
    """The name of a board."""
    return _known(word, BOARDS, "board", "another ECP5 board: docs/boards.md#another-ecp5-board; "
                  "any of litex-boards: examples/litex-boards")


def _known(word: str, known: Collection[str], what: str, else_: str = "") -> str:
    """else_: what to do with a word that is like none of them."""
    if word in known:
        return word
    close = difflib.get_close_matches(word, known, n=1)
    hint = f"; did you mean {close[0]}?" if close else f"; {else_}" if else_ else ""
    raise argparse.ArgumentTypeError(f"unknown {what} {word!r}{hint} (known: {', '.join(known)})")


def _known_list(words: str, known: Collection[str], what: str,
                every: Collection[str]) -> list[str]:
    if words == "all":
        return list(every)
    return list(dict.fromkeys(_known(word.strip(), known, what) for word in words.split(",")))


def frame_size(word: str) -> int:
    size = _integer(word, "a frame size")
    if not MIN_FRAME <= size <= MAX_FRAME:
        raise argparse.ArgumentTypeError(
            f"{size}: an Ethernet frame has {MIN_FRAME} to {MAX_FRAME} octets with its FCS")
    return size


def frame_sizes(words: str) -> list[int]:
    """Frame sizes with commas between them; each once, in the order given."""
    return list(dict.fromkeys(frame_size(word) for word in words.split(",")))


def load(word: str) -> int | float:
    """Percent of the line rate."""
    percent = _number(word, "a number of percent")
    if not MIN_LOAD <= percent <= 100:  # also refuses nan
        raise argparse.ArgumentTypeError(
            f"{word}: a load is {MIN_LOAD} to 100 percent of the line rate")
    return int(percent) if percent == int(percent) else percent


def loads(words: str) -> list[int | float]:
    """Loads with commas between them; each once, in the order given."""
    return list(dict.fromkeys(load(word) for word in words.split(",")))


def frames(word: str) -> int:
    count = _integer(word, "a number of frames")
    if not 1 <= count <= MAX_FRAMES:
        raise argparse.ArgumentTypeError(
            f"{count}: a trial offers 1 to {MAX_FRAMES:,} frames to each port".replace(",", " "))
    return count


def seconds(word: str) -> float:
    """Simulated time, at most a minute: RFC 2544's trials are not longer."""
    value = _number(word, "a number of seconds")
    if not 0 < value <= 60:
        raise argparse.ArgumentTypeError(f"{word}: give more than 0 and at most 60 seconds")
    return value


def link(word: str) -> int:
    rate = _integer(word, "a line rate")
    if rate not in LINKS:
        raise argparse.ArgumentTypeError(f"{rate}: the line rate is 10, 100 or 1000 Mb/s")
    return rate


def links(words: str) -> list[int]:
    """Line rates with commas between them; each once, in the order given."""
    return list(dict.fromkeys(link(word) for word in words.split(",")))


def directions(words: str) -> list[str]:
    """`all`, or directions with commas between them; each once, in the order given."""
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
    """Numbers of octets with commas between them; each once, in the order given."""
    return list(dict.fromkeys(octets(word) for word in words.split(",")))


def window(word: str) -> int:
    count = _integer(word, "a number of octets")
    if not MIN_WINDOW <= count <= MAX_WINDOW:
        raise argparse.ArgumentTypeError(
            f"{count}: a receive window is {MIN_WINDOW} to {MAX_WINDOW} octets")
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


def flows(word: str) -> int:
    count = _integer(word, "a number of flows")
    if not 1 <= count <= MAX_FLOWS:
        raise argparse.ArgumentTypeError(f"{count}: a port gets 1 to {MAX_FLOWS} flows")
    return count


def seeds(words: str) -> list[int]:
    """Numbers that the placer starts from, with commas between them; each once."""
    return list(dict.fromkeys(_seed(word) for word in words.split(",")))


def _seed(word: str) -> int:
    seed = _integer(word, "a seed")
    if not 0 <= seed < 1 << 31:
        raise argparse.ArgumentTypeError(f"{seed}: a seed is 0 to {(1 << 31) - 1}")
    return seed


def compared(words: str) -> list[str]:
    """A command whose figures are compared, with its options."""
    from ..cli import parse  # which imports the commands
    try:
        name, *options = shlex.split(words)
    except ValueError:
        name, options = words, []
    if name not in COMPARED:
        raise argparse.ArgumentTypeError(f"{name!r} is not among what commits are compared by: "
                                         + ", ".join(COMPARED))
    if any(word.partition("=")[0] in OUTPUTS for word in options):
        raise argparse.ArgumentTypeError(f"leave {', '.join(OUTPUTS)} out: what the command writes "
                                         "is compared")
    parse([name, *options])
    return [name, *options]


def ethtool(words: str) -> str:
    """A setting, in ethtool's words without the interface."""
    try:
        option, *values = shlex.split(words)
    except ValueError:
        option, values = "", []
    if not option.startswith("-") or not words.isprintable():
        raise argparse.ArgumentTypeError(f"{words!r} is no setting; write ethtool's option and its "
                                         "words, such as '-C rx-usecs 50'")
    if named := set(INTERFACES) & set(values):
        raise argparse.ArgumentTypeError(f"leave {min(named)} out of {words!r}: it is set for both "
                                         "ports")
    if len(words) > MAX_SETTING:
        raise argparse.ArgumentTypeError(f"{words[:20]!r}... has {len(words)} characters; a setting "
                                         f"has up to {MAX_SETTING}")
    return words


def resolution(word: str) -> float:
    """Percent of a rate."""
    percent = _number(word, "a number of percent")
    if not MIN_RESOLUTION <= percent <= MAX_RESOLUTION:
        raise argparse.ArgumentTypeError(f"{word}: a search's resolution is {MIN_RESOLUTION} to "
                                         f"{MAX_RESOLUTION} percent of the rate")
    return percent


def scheduler(word: str) -> str:
    """The address of a dask scheduler, tcp://HOST:PORT or HOST:PORT."""
    if not re.fullmatch(r"((tcp|tls|ws|wss|ucx)://)?[^/\s]+:\d+", word):
        raise argparse.ArgumentTypeError(f"{word!r} is not a scheduler's address, such as "
                                         "tcp://192.0.2.1:8786")
    return word


def text(word: str) -> str:
    """Words that go into a file."""
    try:
        word.encode()
    except UnicodeEncodeError:
        raise argparse.ArgumentTypeError(f"{word!r} is no UTF-8; write it so") from None
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


# Files --------------------------------------------------------------------------------------------

def input_file(word: str) -> Path:
    """A file to read; its content is checked by what reads it.

    Of /dev/stdin and the like, the file itself: a simulator has other descriptors of these names.
    """
    path = Path(word).absolute()
    if outputs.descriptor(path) is not None and path.is_file():
        path = Path(os.path.realpath(path))
    if not path.is_file():
        raise argparse.ArgumentTypeError(f"{word} {_instead_of_file(path)}")
    if not os.access(path, os.R_OK):
        raise argparse.ArgumentTypeError(f"{word} can't be read; change its permissions")
    return path


def _instead_of_file(path: Path) -> str:
    """What a path is that names no file, and what to do."""
    if path.is_dir():
        return "is a folder; name a file"
    if path.is_fifo() or path.is_socket():
        return "is a pipe; name a file, which can be read twice"
    if path.exists():
        return "is a device; name a file"
    if path.is_symlink():
        return "is a link to nothing; name another file"
    return "does not exist; name another file"


def input_files(words: str) -> list[Path]:
    """Files to read, with commas between them."""
    return list(dict.fromkeys(input_file(word) for word in words.split(",")))


def input_folder(word: str) -> Path:
    """A folder whose files are read."""
    path = Path(word).absolute()
    if not path.is_dir():
        raise argparse.ArgumentTypeError(f"{word} is not a folder; name one")
    return path


def output_file(word: str) -> Path:
    """A file that will be written, `-` for standard output: it must be possible now, not after
    minutes. Links are followed."""
    path = outputs.STDOUT if word == "-" else Path(word).absolute()
    target = outputs.final(path)
    if target is None:
        return path
    if target.is_dir():
        raise argparse.ArgumentTypeError(f"{word} is a folder; name a file")
    if target.is_symlink():
        raise argparse.ArgumentTypeError(f"{word} is a link in a loop; name another file")
    folder = target.parent
    if not folder.is_dir():
        raise argparse.ArgumentTypeError(
            f"the folder {folder} does not exist; make it, or name another file")
    if target.exists() and not target.is_file():
        if not os.access(target, os.W_OK):
            raise argparse.ArgumentTypeError(f"{word} can't be written to; name another file")
    elif not _writable(folder):
        raise argparse.ArgumentTypeError(
            f"the folder {folder} can't be written to; name another file")
    return path


def kept_file(word: str) -> Path:
    """An output file that is read again."""
    path = output_file(word)
    if outputs.final(path) is None or path.exists() and not path.is_file():
        raise argparse.ArgumentTypeError(f"{word} keeps nothing, and trials are kept to be read "
                                         "again; name a regular file")
    return path


def output_folder(word: str) -> Path:
    """A folder that results go to; it is made if its parent exists."""
    path = Path(word).absolute()
    if path.exists() and not path.is_dir():
        raise argparse.ArgumentTypeError(f"{word} is a file; name a folder")
    place = path if path.exists() else path.parent
    if not place.is_dir():
        raise argparse.ArgumentTypeError(
            f"the folder {place} does not exist; make it, or name another")
    if not _writable(place):
        raise argparse.ArgumentTypeError(f"the folder {place} can't be written to; name another")
    return path


def _writable(folder: Path) -> bool:
    """Whether files can be made there: root may write to folders of /proc, in vain."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False
