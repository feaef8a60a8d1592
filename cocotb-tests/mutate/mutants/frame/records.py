# SPDX-License-Identifier: BSD-2-Clause
TESTS = ["sim-tags", "sim-checksums"]

MUTANTS = [
    ("half a tag", '("tci",       TCI_BITS, options.vlan)',
     '("tci",       TCI_BITS - 4, options.vlan)',
     "the driver puts frames into other VLANs"),
    ("half a place", '("place",  13,             options.tx_checksum)',
     '("place",  9,             options.tx_checksum)',
     "checksums are inserted too early"),
]
