# SPDX-License-Identifier: BSD-2-Clause
TESTS = ["test_receive", "sim-all"]

MUTANTS = [
    ("a word beyond the 64 octets",
     "If(self.take & (place != WORDS), ", "If(self.take, ",
     "the 33rd word counts as the first"),
    ("the count goes on from the frame before",
     "Mux(self.first, 0, passed)", "passed",
     "only the first frame is compared"),
    ("every bit counts",
     "((self.data ^ comparison.value) & comparison.mask) == 0",
     "self.data == comparison.value",
     "a rule for a field matches no frame"),
    ("a comparison that is off fails",
     "fails.append(comparison.on & ~hit)", "fails.append(~hit)",
     "one rule alone can't be used together"),
    ("a comparison that is off holds",
     "holds.append(comparison.on & hit)", "holds.append(hit)",
     "a rule that was taken away goes on"),
    ("together is either",
     "& ~(self.together & reduce(or_, fails))", "",
     "a flow is urgent for one half of its rule"),
]
