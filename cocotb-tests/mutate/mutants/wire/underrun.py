# SPDX-License-Identifier: BSD-2-Clause
TESTS = ["8-core", "16-core", "gmii-resets"]

MUTANTS = [
    ("a frame waits for its next octet",
     "source.valid.eq(self.inside | (sink.valid & ~self.drop))",
     "source.valid.eq(sink.valid & ~self.drop)",
     "the next frame has no preamble"),
    ("dropped octets start a frame",
     "(sink.valid & ~self.drop)", "sink.valid",
     "a preamble and one octet leave"),
]
