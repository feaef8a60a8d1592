# SPDX-License-Identifier: BSD-2-Clause
TESTS = ["test_receive", "sim-tags", "sim-all"]

MUTANTS = [
    ("`take` ignores valid",
     "self.take.eq(sink.valid & sink.ready)", "self.take.eq(sink.ready)",
     "the position of a tag is missed"),
]
