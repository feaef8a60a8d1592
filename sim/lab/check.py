# SPDX-License-Identifier: BSD-2-Clause
"""Whether a command is right, with the system's Python, before anything is installed for it.

    python3 -m sim.lab.check WORDS

The exit status is 2 for a wrong one, which is refused as the command itself would refuse it.
"""

import sys
import types
from pathlib import Path


def main(words: list[str]) -> int:
    # As .venv has it: the package is the clone itself.
    package = types.ModuleType("moderato")
    package.__path__ = [str(Path(__file__).parents[2])]
    sys.modules["moderato"] = package
    from moderato.sim.lab.cli import parse
    from moderato.sim.lab.show.errors import UsageError
    try:
        parse(words)
    except UsageError as error:
        print(f"moderato: {error}", file=sys.stderr)
        return error.status
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
