# SPDX-License-Identifier: BSD-2-Clause
TESTS = ["test_receive", "sim-tags", "sim-all"]

MUTANTS = [
    ("words that wait are seen",
     "self.take.eq(sink.valid & sink.ready)", "self.take.eq(sink.ready)",
     "the place of a tag is missed"),
]
