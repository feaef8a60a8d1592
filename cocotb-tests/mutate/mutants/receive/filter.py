# SPDX-License-Identifier: BSD-2-Clause
TESTS = ["test_filter", "sim-all", "test_mac_gated"]

MUTANTS = [
    ("one octet fewer",
     "self.destination[32:]))", "self.destination[32:40]))",
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
    ("the hash is of the latest words",
     "If(self.start, hashed.eq(crc[26:32]))", "hashed.eq(crc[26:32])",
     "the verdict depends on what follows the destination"),
    ("one switch for all addresses",
     'further.on.eq(regs.field(f"UNICAST_HIGH_{n}", "ON"))',
     'further.on.eq(regs.field("UNICAST_HIGH_0", "ON"))',
     "addresses cannot be given up alone"),
]
