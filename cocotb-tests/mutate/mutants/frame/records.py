# SPDX-License-Identifier: BSD-2-Clause
TESTS = ["sim-tags", "sim-checksums", "sim-queues", "pieces-segments"]

MUTANTS = [
    ("the TCI lacks four bits", '("tci",       TCI_BITS, options.vlan)',
     '("tci",       TCI_BITS - 4, options.vlan)',
     "the driver assigns frames to other VLANs"),
    ("`place` is 9 bits wide", '("place",  13,             options.tx_checksum)',
     '("place",  9,             options.tx_checksum)',
     "checksums are inserted too early"),
    ("`stamp` has one bit for all queues",
     '("stamp",  1 if options.scheduled else options.queues, options.timestamp)',
     '("stamp",  1, options.timestamp)',
     "a frame of queue 1 gets no stamp"),
    ("`mss` is 8 bits wide",
     '("mss",     14,       options.segment)',
     '("mss",     8,        options.segment)',
     "segments are shorter than requested"),
]
