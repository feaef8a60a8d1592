# SPDX-License-Identifier: BSD-2-Clause
TESTS = ["sim-rings", "sim-faults", "formal:rx_ring", "gated-options"]

MUTANTS = [
    ("stops with writes under way",
     "If(completions.idle & fetcher.idle",
     "If(fetcher.idle",
     "the driver frees memory that is written later"),
    ("stops with a fetch under way",
     "If(completions.idle & fetcher.idle",
     "If(completions.idle",
     "the driver frees a ring that is being read"),
    ("halted is reported for the other direction",
     'f"{prefix}_HALTED").eq(self.halted)',
     'f"{prefix}_HALTED").eq(0)',
     "the driver resets the wrong ring"),
]
