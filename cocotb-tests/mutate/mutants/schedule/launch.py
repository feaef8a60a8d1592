# SPDX-License-Identifier: BSD-2-Clause
TESTS = ["formal:launch", "test_mac_launch_gated"]

MUTANTS = [
    ("unaligned frames start a clock late",
     "Mux(fifo.head.offset[:2] != 0, now.early, now.time)", "now.time",
     "they leave a clock after their time"),
    ("the new frame has the old one's times",
     "If(~fifo.available | fifo.release, age.eq(0))", "If(~fifo.available, age.eq(0))",
     "a frame leaves at another one's time"),
    ("frames that wait in the MAC core do not count",
     "limits.overhead + Mux(self.free, 0, limits.backlog)", "limits.overhead",
     "a frame that just fits delays the held one"),
    ("short frames are not padded",
     "Mux(length < least, least, length)", "length",
     "a short frame delays the held one"),
    ("tags do not count",
     "length.eq(fifo.head.length + TAG_OCTETS)", "length.eq(fifo.head.length)",
     "a tagged frame may delay the held one by 4 octets",
     "the octets that the guard adds are more than a tag has"),
    ("a frame is late a clock after its time",
     "self.grace    = 2**ceil(period).bit_length()", "self.grace    = 1",
     "frames on time are counted as late"),
]
