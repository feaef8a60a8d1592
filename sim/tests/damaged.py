# SPDX-License-Identifier: BSD-2-Clause
"""JSON as no program of the lab writes it, nearly: somebody edited it, or another commit wrote it."""

import copy
from random import Random

OTHERS = (
    None,
    True,
    0,
    -3,
    2.5,
    1e300,
    float("nan"),
    10**400,
    "",
    "words",
    [],
    [1],
    [None],
    {},
    {"key": 1},
    {"key": {}},
)


def damaged(value, random: Random):
    """A copy with one value replaced by another one, or its key, or place in a list, left out."""
    value = copy.deepcopy(value)
    place, where = random.choice([*_places(value)])
    if random.random() < 0.2:
        del place[where]
    else:
        place[where] = random.choice(OTHERS)
    return value


def _places(value):
    """(a list or an object, an index or a key) of all that is in there."""
    inside = value.items() if isinstance(value, dict) else enumerate(value)
    for where, each in inside:
        yield value, where
        if isinstance(each, dict | list):
            yield from _places(each)
