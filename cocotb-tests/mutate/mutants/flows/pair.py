# SPDX-License-Identifier: BSD-2-Clause
TESTS = ["flows-all", "flows-gated"]

MUTANTS = [
    ("back to where it came from",
     "forwards(one, other) + forwards(other, one)", "forwards(one, one) + forwards(other, other)",
     "frames come back"),
    ("at the beginning of a word",
     "port.param.offset.eq(RX_OFFSET)", "port.param.offset.eq(0)",
     "two octets go ahead of each frame"),
    ("the other MAC sleeps",
     "sender.forwarding.eq(forward.awake)", "sender.forwarding.eq(0)",
     "frames wait until something else wakes it"),
    ("without a sum",
     "port.checksum.write.eq(forward.write)", "port.checksum.write.eq(0)",
     "sums and frames are out of step"),
    ("tags are left out",
     "port.param.tagged.eq(forward.action.insert)", "port.param.tagged.eq(0)",
     "frames leave without their tag"),
    ("all is summed",
     "port.checksum.start.eq(NOTHING)", "port.checksum.start.eq(0)",
     "the sum is another one",
     "nobody inserts it"),
]
