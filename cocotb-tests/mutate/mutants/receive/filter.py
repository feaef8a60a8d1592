# SPDX-License-Identifier: BSD-2-Clause
TESTS = ["test_filter", "sim-all", "test_mac_gated"]

MUTANTS = [
    ("one octet fewer",
     "count.eq(6)", "count.eq(5)",
     "the hash leaves out the last octet"),
    ("hash by the low bits",
     "crc[26:32]", "crc[:6]",
     "not the bits that the driver sets"),
    ("hash for all destinations",
     "(self.multicast & (self.allmulti | hash_hit))",
     "(self.multicast & self.allmulti) | hash_hit",
     "stations whose address hashes well get in"),
    ("on or not",
     "other.on & (self.destination == other.address)", "self.destination == other.address",
     "an address that was given up still gets frames"),
    ("half of a further address",
     "self.destination == other.address", "self.destination[:40] == other.address[:40]",
     "neighbours' frames get in"),
    ("the hash starts where the last one ended",
     "crc.eq(INIT),", "crc.eq(crc),",
     "the verdict depends on the frame before"),
    ("sleeps while it hashes",
     "self.awake.eq(self.start | (count != 0))", "self.awake.eq(self.start)",
     "behind a clock gate the hash is not ready in time",
     "a frame that is not dropped as undersize has 14 words behind its destination; each is "
     "an edge"),
    ("one switch for all addresses",
     'further.on.eq(regs.field(f"UNICAST_HIGH_{n}", "ON"))',
     'further.on.eq(regs.field("UNICAST_HIGH_0", "ON"))',
     "addresses cannot be given up alone"),
]
