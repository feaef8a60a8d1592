# SPDX-License-Identifier: BSD-2-Clause
TESTS = ["gmii-resets", "test_mac_gmii", "mii-wire"]

MUTANTS = [
    ("an octet less", "words == gap - 1", "words == gap - 2",
     "frames are closer than 96 bit times"),
    ("an octet more", "words == gap - 1", "words == gap",
     "the link's rate is not reached"),
    ("every word takes a clock",
     "NextValue(pace, since)", "NextValue(pace, 1)",
     "half the gap where a word takes two clocks"),
    ("the pace is counted on",
     "NextValue(since, 1),\n                If(sink.last", "If(sink.last",
     "the gap goes by the length of the frame"),
]
