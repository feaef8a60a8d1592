# SPDX-License-Identifier: BSD-2-Clause
TESTS = ["sim-rings", "sim-faults", "sim-stamps", "formal:rx_ring", "gated-options"]

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
    ("a refused status halts in silence",
     "self.halted.eq(fetcher.failed | completions.failed)",
     "self.halted.eq(fetcher.failed)",
     "no driver resets a ring whose statuses are lost"),
    ("a refused descriptor halts in silence",
     "self.halted.eq(fetcher.failed | completions.failed)",
     "self.halted.eq(completions.failed)",
     "no driver resets a ring that fetches nothing"),
    ("a ring that stops waits for its stamps",
     "stamps.give_up.eq(~self.enable)",
     "stamps.give_up.eq(0)",
     "it never stops while the link is down"),
]
