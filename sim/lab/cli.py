# SPDX-License-Identifier: BSD-2-Clause
"""The command line: everything that all commands share."""

import signal

if __name__ == "__main__" and signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
    # Until main() runs: no traceback for Ctrl-C during the imports.
    signal.signal(signal.SIGINT, signal.SIG_DFL)

import argparse
import atexit
import contextlib
import difflib
import importlib
import io
import os
import select
import sys
from collections.abc import Callable
from pathlib import Path

from moderato.toolchain.cache import BuildError
from moderato.toolchain.descriptors import open_standard
from moderato.toolchain.project import title
from moderato.toolchain.suspension import suspend

from . import commands
from .show import outputs
from .show.errors import LabError, UsageError

STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_stopped_by = signal.SIGINT  # the last signal that stopped the command
HELP = ("-h", "--help")
VERBATIM = ("--ethtool",)  # options whose values may look like another option
STDOUT = 1

USAGE = "usage: moderato COMMAND [OPTIONS]    moderato help COMMAND    moderato --version"
IN_A_CLONE = f"""\
Linux on a simulated SoC forwards Ethernet frames between two Moderato ports;
this measures what each interrupt strategy costs, and makes the MAC for SoCs.

{USAGE}

the lab:
{{lab}}

the MAC and its driver, to use and to change:
{{design}}

Once in a clone, ./moderato installs what a command needs. It adds two:
  setup      install everything now
  test       the tests; takes pytest's options
"""
INSTALLED = f"""\
Makes the Moderato MAC for designs of your own; `from moderato import
add_moderato` puts it into a LiteX SoC.

{USAGE}

commands:
{{installed}}

A clone of the project has {{others}} more, in ./moderato.
"""


class Parser(argparse.ArgumentParser):
    """Rejects a command with one line instead of a page of usage."""

    def parse_args(self, words: list[str]) -> argparse.Namespace:
        """Accepts values that begin with -, such as ethtool's options."""
        joined, rest = [], iter(words)
        for word in rest:
            value = next(rest, None) if word in VERBATIM else None
            joined.append(word if value is None else f"{word}={value}")
        return super().parse_args(joined)

    def error(self, message):
        raise UsageError(f"{message}; see `{self.prog} --help`")


def main(words: list[str] | None = None) -> int:
    """Run one command; returns the exit status: 0, 1 for a failure, 2 for a wrong command."""
    return guarded(lambda: run(sys.argv[1:] if words is None else words))


def run(words: list[str]) -> int:
    options = parse(words)
    with tables_to_stderr(options):
        return options.run(options)


def guarded(work: Callable[[], int]) -> int:
    """The status of `work`. For an exception, or if output cannot be written, prints a line on standard
    error and returns its status."""
    global _stopped_by
    _stopped_by = signal.SIGINT
    open_standard()
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Names of files and the guest's output are printed as their original octets.
        sys.stdout.reconfigure(errors="surrogateescape")
    # Ignored signals stay ignored: nohup, and background jobs of a script.
    handlers = dict.fromkeys(STOPS, stop) | {signal.SIGTSTP: suspend}
    before = {
        each: signal.signal(each, handler)
        for each, handler in handlers.items()
        if signal.getsignal(each) != signal.SIG_IGN
    }
    try:
        try:
            status = work()
        except SystemExit:  # help or the version was printed
            print(end="", flush=True)
            raise
        print(end="", flush=True)  # reports a full disk now, not after the exit
        return status
    except (LabError, BuildError) as error:
        print(f"moderato: {error}", file=sys.stderr)
        return getattr(error, "status", 1)
    except OSError as error:
        place = error.filename or (outputs.STANDARD_OUTPUT if given_up() else "a file")
        if isinstance(error, BrokenPipeError) and place == outputs.STANDARD_OUTPUT:
            return 128 + signal.SIGPIPE  # no message: the reader has closed the pipe
        print(f"moderato: {place}: {error.strerror or error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        before.clear()  # further signals do not disturb the exit
        print("moderato: stopped", file=sys.stderr)
        return 128 + _stopped_by
    finally:
        # LiteX's module for colours would print an escape sequence at the exit, on any terminal.
        if colours := sys.modules.get("colorama.initialise"):
            atexit.unregister(colours.reset_all)
        given_up()
        for each, handler in before.items():
            signal.signal(each, handler)


def given_up() -> bool:
    """Whether standard output is closed or has no reader; its remaining content is then discarded."""
    gone = select.poll()
    gone.register(STDOUT, 0)  # polls as an error: a pipe without a reader, or a closed descriptor
    try:
        print(end="", flush=True)
        return bool(gone.poll(0))
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), STDOUT)
        return True


def stop(number: int, *_):
    """End all that runs, for any signal; a second Ctrl-C does not disturb the clean-up."""
    global _stopped_by
    _stopped_by = number
    for each in STOPS:
        signal.signal(each, signal.SIG_IGN)
    raise KeyboardInterrupt


def tables_to_stderr(options) -> contextlib.AbstractContextManager:
    """Print tables to standard error if a result goes to standard output."""
    paths = [each for each in vars(options).values() if isinstance(each, Path)]
    if any(outputs.descriptor(path) == STDOUT for path in paths):
        return contextlib.redirect_stdout(sys.stderr)
    return contextlib.nullcontext()


def parse(words: list[str]) -> argparse.Namespace:
    """The options of a command, with `run`, the function that runs it.

    Raises UsageError, or SystemExit after help or the version was printed.
    """
    if words[:1] == ["help"]:
        words = [*words[1:], "--help"]
    name, *rest = words or [""]
    if name in HELP:
        print(summary(), end="")
        raise SystemExit
    if "--version" in words:
        print(f"moderato {title()}")
        raise SystemExit
    if name in commands.NAMES and set(HELP) & set(rest):  # even after a wrong option
        print(parser(name).format_help(), end="")  # print_help() ignores a full disk
        raise SystemExit
    if name in commands.ALL and name not in commands.NAMES:
        raise UsageError(
            f"only the package is installed, and {name} needs a clone of the project; "
            f"run ./moderato {name} there (here: {', '.join(commands.NAMES)})"
        )
    if name not in commands.NAMES:
        close = difflib.get_close_matches(name, commands.NAMES, n=1)
        said = f"unknown command {name!r}" if name else "a COMMAND is needed"
        raise UsageError(
            f"{said}{f'; did you mean {close[0]}?' if close else ''} "
            f"(known: {', '.join(commands.NAMES)}); see `moderato --help`"
        )
    options = parser(name).parse_args(rest)
    options.typed = rest
    getattr(command(name), "check", lambda _: None)(options)
    return options


def summary() -> str:
    """The output of `moderato --help`."""

    def lines(names) -> str:
        return "\n".join(f"  {name:10} {command(name).__doc__}" for name in names)

    if commands.NAMES == commands.ALL:
        return IN_A_CLONE.format(lab=lines(commands.LAB), design=lines(commands.DESIGN))
    return INSTALLED.format(
        installed=lines(commands.NAMES), others=len(commands.ALL) - len(commands.NAMES)
    )


def command(name: str):
    """The module of a command."""
    return importlib.import_module(f".commands.{name}", __package__)


def parser(name: str) -> Parser:
    """The parser of one command."""
    module = command(name)
    made = Parser(
        prog=f"moderato {name}",
        description=module.__doc__,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="examples:\n"
        + "\n".join(f"  moderato {name} {example}".rstrip() for example in module.EXAMPLES),
    )
    made.set_defaults(run=module.run)
    module.options(made)
    return made


if __name__ == "__main__":
    sys.exit(main())
