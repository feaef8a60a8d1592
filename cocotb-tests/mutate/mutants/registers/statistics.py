# SPDX-License-Identifier: BSD-2-Clause
TESTS = ["test_statistics", "sim-all", "test_mac_gated"]

MUTANTS = [
    ("only one of a burst waits",
     "left + pulse if name in bursts", "Mux(pulse, pulse, left) if name in bursts",
     "some events in a row are not counted"),
    ("what waits is counted twice",
     "left = Mux(taken[n], 0, waiting[n])", "left = waiting[n]",
     "an event counts in every clock"),
    ("an event at its turn is lost",
     "left + pulse if name in bursts", "left + (pulse & ~taken[n]) if name in bursts",
     "what comes while its counter is added up is forgotten"),
    ("taken although the bus reads",
     "If(~clearing & ~regs.counting, taken.eq(first))", "If(~clearing, taken.eq(first))",
     "events are lost in the clocks in which software reads"),
    ("added to what software reads",
     "busy.eq(0),\n                counter.eq(regs.counter)", "counter.eq(regs.counter)",
     "a counter grows by being read"),
    ("not cleared by a reset",
     "clearing = Signal(reset=1)", "clearing = Signal()",
     "counters start with what was in the memory"),
    ("sleeps with events that wait",
     "self.awake.eq(clearing | busy | (some != 0))", "self.awake.eq(clearing | busy)",
     "behind a clock gate they wait until the next event"),
]
