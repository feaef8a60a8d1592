# SPDX-License-Identifier: BSD-2-Clause
TESTS = ["flows-all", "flows-gated"]

MUTANTS = [
    ("frames return to the MAC that received them",
     "forwards(one, other) + forwards(other, one)", "forwards(one, one) + forwards(other, other)",
     "frames leave on the link on which they arrived"),
    ("frames start at offset 0",
     "port.param.offset.eq(RX_OFFSET)", "port.param.offset.eq(0)",
     "two octets precede each frame"),
    ("forwarding does not wake the other MAC",
     "sender.forwarding.eq(forward.awake)", "sender.forwarding.eq(0)",
     "frames wait until another event wakes it"),
    ("forwarded words are not summed",
     "port.checksum.write.eq(forward.write)", "port.checksum.write.eq(0)",
     "checksums and frames get out of step"),
    ("tags of flows are not inserted",
     "port.param.tagged.eq(forward.action.insert)", "port.param.tagged.eq(0)",
     "frames leave without their VLAN tag"),
    ("all octets of a frame are summed",
     "port.checksum.start.eq(NOTHING)", "port.checksum.start.eq(0)",
     "the sum changes",
     "the sum of a forwarded frame is not inserted"),
]
