# SPDX-License-Identifier: BSD-2-Clause
TESTS = ["test_receive", "sim-all"]

MUTANTS = [
    ("the word count wraps after 64 octets",
     "If(self.take & (place != WORDS), ", "If(self.take, ",
     "the 33rd word counts as the first"),
    ("the word count is not reset",
     "Mux(self.first, 0, passed)", "passed",
     "only the first frame is compared"),
    ("the mask is ignored",
     "((self.data ^ comparison.value) & comparison.mask) == 0",
     "self.data == comparison.value",
     "a rule for a field matches no frame"),
    ("a disabled comparison fails",
     "fails.append(comparison.on & ~hit)", "fails.append(~hit)",
     "a single comparison cannot be used with TOGETHER"),
    ("a disabled comparison holds",
     "holds.append(comparison.on & hit)", "holds.append(hit)",
     "a removed rule remains in effect"),
    ("TOGETHER is ignored",
     "& ~(self.together & reduce(or_, fails))", "",
     "half of a rule makes a frame urgent"),
]
