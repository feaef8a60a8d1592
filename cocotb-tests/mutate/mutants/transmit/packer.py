# SPDX-License-Identifier: BSD-2-Clause
TESTS = ["pieces-pieces", "pieces-segments"]

MUTANTS = [
    ("a full word is complete",
     "self.put & (together > DATA_BYTES)", "self.put & (together >= DATA_BYTES)",
     "the frame's last word is not known as such"),
    ("shifted by what is there", "shift.eq(fill - self.first)", "shift.eq(fill)",
     "octets of other addresses are sent"),
    ("what is around the end is lost", "Mux(full, rotated, self.data)", "self.data",
     "octets of the word before come again"),
    ("overwritten in waiting", "self.ready.eq(~self.write | self.room)", "self.ready.eq(1)",
     "words are lost when the FIFO is full"),
]
