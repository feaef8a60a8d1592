# SPDX-License-Identifier: BSD-2-Clause
"""The command line: what all commands have in common."""

import argparse
import contextlib
import importlib
import signal
import sys
from pathlib import Path

from moderato.soc.toolchain.cache import BuildError

from . import commands
from .show import outputs
from .show.errors import LabError, UsageError


STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Parser(argparse.ArgumentParser):
    """Refuses with one line instead of a page of usage."""

    def error(self, message):
        raise UsageError(f"{message}; see `{self.prog} --help`")


def main(words: list[str] | None = None) -> int:
    """Run one command; returns the exit status: 0, 1 for a failure, 2 for a wrong command."""
    # What is ignored stays so: nohup, and background jobs of a script.
    before = {each: signal.signal(each, stop) for each in STOPS
              if signal.getsignal(each) != signal.SIG_IGN}
    try:
        options = parser().parse_args(words)
        with tables_beside(options):
            return options.run(options)
    except (LabError, BuildError) as error:
        print(f"moderato: {error}", file=sys.stderr)
        return getattr(error, "status", 1)
    except OSError as error:
        print(f"moderato: {error.filename or 'a file'}: {error.strerror}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        before.clear()  # on to the exit, without a further signal's disturbance
        print("moderato: stopped", file=sys.stderr)
        return 130
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def stop(*_):
    """Leave nothing behind, whatever asks for it; a second Ctrl-C does not disturb the cleaning."""
    for each in STOPS:
        signal.signal(each, signal.SIG_IGN)
    raise KeyboardInterrupt


def tables_beside(options) -> contextlib.AbstractContextManager:
    """Tables go to standard error where a result goes to standard output: it must stand alone."""
    paths = [each for each in vars(options).values() if isinstance(each, Path)]
    if any(outputs.descriptor(path) == sys.__stdout__.fileno() for path in paths):
        return contextlib.redirect_stdout(sys.stderr)
    return contextlib.nullcontext()


def parser() -> Parser:
    top = Parser(prog="moderato", allow_abbrev=False, description=(
        "Linux on a simulated SoC forwards Ethernet frames between two Moderato ports; this "
        "measures what each interrupt strategy costs."),
        epilog="The launcher adds two commands: ./moderato setup, ./moderato test.")
    known = top.add_subparsers(metavar="COMMAND", required=True)
    for name in commands.NAMES:
        command = importlib.import_module(f".commands.{name}", __package__)
        sub = known.add_parser(name, help=command.SUMMARY, description=command.SUMMARY,
                               allow_abbrev=False)
        sub.set_defaults(run=command.run)
        command.options(sub)
    return top


if __name__ == "__main__":
    sys.exit(main())
