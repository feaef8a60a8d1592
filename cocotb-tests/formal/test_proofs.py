# SPDX-License-Identifier: BSD-2-Clause
"""Every promise is proved, every interesting state is reachable, and broken gateware is found."""

import functools
import re

import pytest

from formal.descriptor import DescriptorProof
from formal.moderation import ModerationProof
from formal.prover import breaks, broken_promises, reaches, text

PROOFS = {"moderation": ModerationProof, "descriptor": DescriptorProof}


@functools.cache
def code(name):
    return text(PROOFS[name]())


@pytest.mark.parametrize("name", PROOFS)
def test_promises_hold(name):
    assert broken_promises(code(name)) == []


@pytest.mark.parametrize("name, state", [(name, state) for name, proof in PROOFS.items()
                                         for state in proof().reachable])
def test_state_is_reachable(name, state):
    assert reaches(code(name), state)


# A change of the generated Verilog (pattern, replacement), and a promise that it breaks.
MUTANTS = {
    "re-arm forgets what was not seen":
        ("moderation", r"unreported <= \(-\$signed\(\{1'd0, \w+_ahead\}\)\);", "unreported <= 0;",
         "nothing_is_forgotten"),
    "a driver ahead is taken for one behind":
        ("moderation", r"if \(\(\(\w+_ahead != 1'd0\) & \(\w+_ahead < 5'd16\)\)\)", "if (0)",
         "seen_raises_nothing"),
    "what was seen early asks all the same":
        ("moderation", r"if \(\(\w+counts & request\)\)", "if ((completion & request))",
         "seen_raises_nothing"),
    "what was seen early is never over":
        ("moderation", r"(seen <= )\((\w+seen) - 1'd1\);", r"\1\2;", "nothing_is_forgotten"),
    "sleeps while the gap passes":
        ("moderation", r"(dut_awake = .*) \| \w+gap_ticks\)", r"\1)", "asleep_nothing_changes"),
    "the gap is over when a request comes":
        ("moderation", r"(armed & )\(~\w+gap_ticks\)", r"\1(dut_requested | ~dut_gap_ticks)",
         "gap"),
    "raising does not mask":
        ("moderation", r"(raised\) begin\s+\w+line <= 1'd1;\s+\w+armed <= )1'd0", r"\g<1>1'd1",
         "one_shot"),
    "absolute timer starts over at each completion":
        ("moderation", r"if \(\((rearm \| \(~\w+outstanding\))\)\)", r"if ((\1 | completion))",
         "bounded_latency"),
    "fetch does not stop at the doorbell":
        ("descriptor", r"(assign \w+available = )\(.*\);", r"\1 16'd4;",
         "reads_nothing_beyond_the_doorbell"),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_mutant_is_found(mutant):
    name, pattern, replacement, promise = MUTANTS[mutant]
    mutated, changes = re.subn(pattern, replacement, code(name))
    assert changes == 1, "the pattern does not fit the Verilog"
    assert breaks(mutated, promise)
