# SPDX-License-Identifier: BSD-2-Clause
"""Make the driver's header and docs from the MAC's tables."""

from ..show.errors import LabError

EXAMPLES = ("", "--check")


def options(parser):
    parser.add_argument("--check", action="store_true",
                        help="change nothing, and fail if a file differs from its table")


def run(options) -> int:
    from moderato.gateware import export
    if not options.check:
        export.write()
    elif stale := export.stale():
        raise LabError(f"{', '.join(stale)}: differs from its table; run `./moderato export`")
    return 0
