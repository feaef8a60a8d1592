# SPDX-License-Identifier: BSD-2-Clause
TESTS = ["pieces-pieces", "pieces-segments"]

MUTANTS = [
    ("a full word is written before the end is known",
     "self.put & (together > DATA_BYTES)", "self.put & (together >= DATA_BYTES)",
     "the frame's last word is not marked"),
    ("the shift ignores `first`", "shift.eq(fill - self.first)", "shift.eq(fill)",
     "octets of other addresses are sent"),
    ("octets rotated around the word's end are lost", "Mux(full, rotated, self.data)", "self.data",
     "octets of the word before are repeated"),
    ("`ready` ignores a word that waits", "self.ready.eq(~self.write | self.room)", "self.ready.eq(1)",
     "words are lost when the FIFO is full"),
]
