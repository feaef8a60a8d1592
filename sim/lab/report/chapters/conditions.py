# SPDX-License-Identifier: BSD-2-Clause
"""The simulated systems of all trials, and the commands that repeat them."""

from html import escape

from .. import detail, reproduce
from ..chapter import Chapter, Html
from ..inputs import Inputs


def chapter(inputs: Inputs) -> Chapter:
    trials = inputs.trials
    text = escape("\n".join(reproduce.commands(trials)))
    return Chapter(
        "conditions",
        "Conditions",
        [
            *([detail.machines(trials), detail.kinds(trials)] if trials.trials else []),
            Html(f"<p>The same trials, made again:</p>\n<pre>{text}</pre>\n") if text else None,
        ],
    )
