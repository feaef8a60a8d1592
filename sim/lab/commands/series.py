# SPDX-License-Identifier: BSD-2-Clause
"""Write the driver, or Linux' patch, for the kernel's developers."""

from . import files

EXAMPLES = (
    "--output patches",
    "--output patches --author 'Ada Example <ada@example.org>'",
    "--output patches --tree riscv",
)


def options(parser):
    add = parser.add_argument
    add(
        "--output",
        type=files.output_folder,
        required=True,
        metavar="DIR",
        help="a folder without mails, for these; `git am` applies them to Linux",
    )
    add(
        "--tree",
        choices=("net-next", "riscv"),
        default="net-next",
        help="net-next: the driver; riscv: Linux' own patch, which all kernels here but `--kernel "
        "stock` have (default: net-next)",
    )
    add(
        "--author",
        type=files.text,
        metavar="'NAME <MAIL>'",
        help="the name and address for Signed-off-by and MAINTAINERS (default: git's configuration)",
    )


def run(options) -> int:
    import sys
    import tempfile
    from pathlib import Path

    from moderato.soc.linux import series

    from ..show import outputs

    who = series.author(options.author)
    with outputs.not_left_empty(options.output), tempfile.TemporaryDirectory() as work:
        options.output.mkdir(parents=True, exist_ok=True)
        for mail in series.write(options.output, who, Path(work), options.tree):
            print(mail)
    there, absent = series.uncommitted(options.tree)
    for names, says in (
        (there, "the mails have changes that are not committed"),
        (absent, "not committed, and in none of the mails"),
    ):
        if names:
            print(f"moderato: {says}: {', '.join(names)}", file=sys.stderr)
    return 0
