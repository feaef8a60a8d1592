# SPDX-License-Identifier: BSD-2-Clause
"""Every record, as a file that `moderato report --results` reads."""

import gzip
import json

from ..chapter import Chapter, Html
from ..inputs import Inputs
from ..page import download


def chapter(inputs: Inputs) -> Chapter:
    records = inputs.trials.all
    lines = "".join(json.dumps(trial, separators=(",", ":")) + "\n" for trial in records)
    link = download("trials.jsonl.gz", gzip.compress(lines.encode(), mtime=0), "application/gzip")
    return Chapter(
        "data",
        "Raw data",
        [
            Html(
                f"<p>All {len(records)} trials, a line of JSON each: {link}. <code>./moderato report "
                "--results trials.jsonl.gz</code> makes this report again.</p>\n"
            )
        ],
    )
