# SPDX-License-Identifier: BSD-2-Clause
"""Write the MAC's tables, figures and the version into their files."""

from ..show.errors import LabError

EXAMPLES = ("", "--check")


def options(parser):
    parser.add_argument(
        "--check", action="store_true", help="change nothing, and fail if a file is not as it has to be"
    )


def run(options) -> int:
    from moderato.gateware import export

    from ..report import doc_numbers

    if not options.check:
        export.write()
        doc_numbers.write()
    elif stale := [*export.stale(), *doc_numbers.stale()]:
        raise LabError(f"{', '.join(stale)}: not as what it is made from; run `./moderato export`")
    return 0
