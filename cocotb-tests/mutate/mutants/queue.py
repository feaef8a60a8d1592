# SPDX-License-Identifier: BSD-2-Clause
TESTS = ["sim-all", "sim-faults", "sim-queues", "gated-options"]

MUTANTS = [
    ("idle while frames wait for it",
     "rx_ring.idle & ~received.held",
     "rx_ring.idle",
     "what was received before is taken for frames of the next ring"),
    ("asleep while queue 1 works",
     "rx_ring.awake | tx_ring.awake | rx_moderation",
     "rx_moderation",
     "behind a clock gate queue 1 stops"),
    ("chosen, but not heeded",
     "rx_timer, pacing_awake = pacing.delay, pacing.awake",
     "pacing_awake = pacing.awake",
     "the fixed timer decides"),
    ("pacing does not keep its part awake",
     "tx_moderation.awake | pacing_awake",
     "tx_moderation.awake",
     "behind a clock gate a window does not end"),
    ("a frame's drop counted as another's",
     '_DROP_BUFFER": rx_ring.drop_buffer',
     '_DROP_BUFFER": rx_ring.drop_ring',
     "RX_DROP_BUFFER and RX_DROP_RING say the same"),
    ("asleep when an interrupt is to be counted",
     "tx_ring.awake | rx_moderation.raised | tx_moderation.raised",
     "tx_ring.awake",
     "behind a clock gate INTERRUPTS misses some"),
]
