# SPDX-License-Identifier: BSD-2-Clause
TESTS = ["gmii-resets", "test_mac_gmii", "mii-wire"]

MUTANTS = [
    ("the gap is one word short", "words == gap - 1", "words == gap - 2",
     "frames are closer than 96 bit times"),
    ("the gap is one word long", "words == gap - 1", "words == gap",
     "the link's rate is not reached"),
    ("the pace is fixed to one clock a word",
     "NextValue(pace, since)", "NextValue(pace, 1)",
     "half the gap where a word takes two clocks"),
    ("the pace counter is not reset",
     "NextValue(since, 1),\n                If(sink.last", "If(sink.last",
     "the gap depends on the length of the frame"),
]
