# SPDX-License-Identifier: BSD-2-Clause
"""Recent CPU time by term, from the call stacks that moderato-sim sends."""

from collections import Counter

from ..explain import terms


class Busy:
    """Follows the stacks of each hart. Nodes have the numbers of sim/harness/README.md."""

    def __init__(self):
        self.functions: dict[int, list[tuple[str, ...]]] = {}  # by hart: the stack of each node
        self.terms: dict[int, list[str]] = {}

    def take(self, stacks: list[dict]) -> dict[str, int]:
        """Cycles by name of the term, of all harts, without waiting in WFI."""
        cycles = Counter()
        for hart, told in enumerate(stacks):
            functions, names = self.functions.setdefault(hart, []), self.terms.setdefault(hart, [])
            del functions[told["from"] :], names[told["from"] :]
            for caller, function in told["nodes"]:
                # The first node is unknown code; it counts as no function's caller.
                stack = (*functions[caller], function) if functions else ()
                functions.append(stack)
                names.append(terms.term_of(stack))
            for node, busy in told["busy"]:
                cycles[names[node]] += busy
        return dict(cycles)


def shown(harts: int) -> list[dict[str, str]]:
    """The machine's terms in the order of the stacked diagram."""
    own = [term for term in terms.TERMS if term.name not in (terms.IDLE, terms.OTHER)]
    several = terms.SEVERAL if harts > 1 else ()
    (other,) = (term for term in terms.TERMS if term.name == terms.OTHER)
    return [{"name": term.name, "meaning": term.meaning} for term in (*own, *several, other)]
