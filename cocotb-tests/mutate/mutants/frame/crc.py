# SPDX-License-Identifier: BSD-2-Clause
TESTS = ["test_filter", "sim-all"]

MUTANTS = [
    ("the polynomial is wrong",
     "0x04C11DB7", "0x04C11DB5",
     "the FCS is that of no standard"),
    ("the register starts at 0",
     "INIT       = 0xFFFFFFFF", "INIT       = 0",
     "leading zeros do not change the FCS"),
    ("the FCS is not inverted",
     "Cat(*[~crc[31 - 8*n - i]", "Cat(*[crc[31 - 8*n - i]",
     "the FCS is not that of IEEE 802.3"),
    ("the residue is wrong",
     "0xC704DD7B", "0xC704DD7A",
     "good frames count as damaged"),
]
