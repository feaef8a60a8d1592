# SPDX-License-Identifier: BSD-2-Clause
"""Tables and figures from trials, as HTML."""

from . import common, files

EXAMPLES = (
    "",
    "--results forward.json,tcp.json",
    "--results mine.jsonl --output mine.html --markdown mine.md --figures figures",
)

PROFILES = ("*.json", "*.svg", "*.pftrace")  # the files of a folder that report/profiles.py reads


def options(parser):
    add = parser.add_argument
    add(
        "--results",
        type=files.input_files,
        metavar="FILE[,FILE...]",
        help="the trials, .jsonl or .jsonl.gz, or what --json of forward, ontime or tcp wrote (default: "
        "those in the build cache; if there are none, the published ones)",
    )
    add(
        "--output",
        type=files.output_file,
        default="report.html",
        metavar="FILE",
        help="default: report.html",
    )
    add(
        "--figures",
        type=files.output_folder,
        metavar="DIR",
        help="also write every figure here, as SVG and PNG",
    )
    add(
        "--markdown",
        type=files.output_file,
        metavar="FILE",
        help="also write every table here, as Markdown",
    )
    add(
        "--profiles",
        type=files.input_folder,
        metavar="DIR",
        help="what `moderato profile` wrote: *.json, *.svg, *.pftrace",
    )


def check(options):
    folder = options.profiles
    read = [file for kind in PROFILES for file in folder.glob(kind)] if folder else []
    common.require_distinct(
        [
            *(("--results", each) for each in options.results or []),
            ("--profiles", folder),
            *(("--profiles", each) for each in read),
        ],
        [("--output", options.output), ("--markdown", options.markdown), ("--figures", options.figures)],
    )


def run(options) -> int:
    from ..report.build_report import report

    return report(options.results, options.output, options.figures, options.markdown, options.profiles)
