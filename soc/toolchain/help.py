# SPDX-License-Identifier: BSD-2-Clause
"""Help and version with the system's Python: nothing is installed, nothing is written.

    python3 -m soc.toolchain.help WORDS

What the command line imports before a command runs is of the standard library only.
"""

import sys
import types

from .project import ROOT

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
    for name, text in (("setup", SETUP), ("test", TEST)):
        if name in words[:2]:
            print(text, end="")
            return 0
    # As .venv has it: the package is the clone itself.
    package = types.ModuleType("moderato")
    package.__path__ = [str(ROOT)]
    sys.modules["moderato"] = package
    from moderato.sim.lab.cli import main as run
    return run(words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
