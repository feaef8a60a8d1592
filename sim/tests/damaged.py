# SPDX-License-Identifier: BSD-2-Clause
"""Damages JSON slightly, as if it was edited or written by another commit."""

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
    """A copy in which one value is replaced, or one key or list item is removed."""
    value = copy.deepcopy(value)
    place, where = random.choice([*_places(value)])
    if random.random() < 0.2:
        del place[where]
    else:
        place[where] = random.choice(OTHERS)
    return value


def _places(value):
    """(list or object, index or key) of every value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value)
    for where, each in inside:
        yield value, where
        if isinstance(each, dict | list):
            yield from _places(each)
