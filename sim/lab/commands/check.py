# SPDX-License-Identifier: BSD-2-Clause
"""Whether this clone gives the figures that it keeps (a minute)."""

EXAMPLES = ("", "--update")


def options(parser):
    parser.add_argument(
        "--update",
        action="store_true",
        help="keep the figures of now, and write them into the pages that quote them "
        "(four times as long)",
    )


def run(options) -> int:
    from ..compare import kept

    if not options.update:
        return kept.check()
    from ..report import doc_numbers

    kept.update()
    doc_numbers.write()
    return 0
