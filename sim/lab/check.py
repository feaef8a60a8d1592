# SPDX-License-Identifier: BSD-2-Clause
"""Commands that need no installation: help, version, `about`, and the check of a command line.

    python3 -m sim.lab.check WORDS

The launcher runs this with the system's Python; nothing is written. Help and version are printed. The
check rejects a wrong command like the command itself, with status 2; for a right one it prints nothing.
Before a command runs, the command line imports only the standard library.
"""

import signal

if __name__ == "__main__" and signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
    # Until cli.guarded() runs: no traceback for Ctrl-C during the imports.
    signal.signal(signal.SIGINT, signal.SIG_DFL)

import sys
import types
from pathlib import Path

# Options of the launcher's own commands.
SETUP = """\
usage: moderato setup

Installs what any command needs: Debian packages (as root or with sudo) and .venv in this clone.
"""
TEST = """\
usage: moderato test [OPTIONS] [FILES]

Runs the tests; takes pytest's options and files, or none for all that take less than minutes.

examples:
  moderato test
  moderato test cocotb-tests -k starved
  moderato test -m slow sim/tests/test_drift.py
"""


def main(words: list[str]) -> int:
    # As in .venv: the package is the clone itself.
    package = types.ModuleType("moderato")
    package.__path__ = [str(Path(__file__).parents[2])]
    sys.modules["moderato"] = package
    from moderato.sim.lab import cli

    if words[:1] == ["about"]:  # works without a complete set-up
        return cli.main(words)
    return cli.guarded(lambda: check(words, cli.parse))


def check(words: list[str], parse) -> int:
    named = [word for word in words if word not in ("help", "-h", "--help")]
    for name, text in (("setup", SETUP), ("test", TEST)):
        if named[:1] == [name]:
            print(text, end="")
            return 0
    parse(words)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
