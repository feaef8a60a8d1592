# SPDX-License-Identifier: BSD-2-Clause
TESTS = ["sim-tags", "sim-checksums", "sim-queues", "pieces-segments"]

MUTANTS = [
    ("half a tag", '("tci",       TCI_BITS, options.vlan)',
     '("tci",       TCI_BITS - 4, options.vlan)',
     "the driver puts frames into other VLANs"),
    ("half a place", '("place",  13,             options.tx_checksum)',
     '("place",  9,             options.tx_checksum)',
     "checksums are inserted too early"),
    ("stamps of one queue only",
     '("stamp",  options.queues, options.timestamp)',
     '("stamp",  1, options.timestamp)',
     "a frame of queue 1 that asks for a stamp gets none"),
    ("half a segment",
     '("mss",     14,       options.segment)',
     '("mss",     8,        options.segment)',
     "segments are shorter than the driver asked"),
]
