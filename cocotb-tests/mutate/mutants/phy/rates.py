# SPDX-License-Identifier: BSD-2-Clause
TESTS = ["rates-resets", "test_mac_rates"]

MUTANTS = [
    ("a reset changes the rate",
     "self.cd_measure  = ClockDomain(reset_less=True)\n        self.comb += [",
     "self.cd_measure  = ClockDomain()\n        self.comb += [\n"
     "            self.cd_measure.rst.eq(ResetSignal()),",
     "until it is measured again, frames are lost"),
    ("upper nibble first", "Cat(lower.nibble, nibble)", "Cat(nibble, lower.nibble)",
     "octets come with their halves exchanged"),
    ("octets begin with the frame", "(lower.valid | delimiter)", "lower.valid",
     "half an octet less of preamble shifts all that follows"),
    ("a delimiter anywhere", "~started & (nibble == SFD)", "nibble == SFD",
     "0xD in a frame shifts all that follows"),
    ("the first frame's delimiter is for all",
     "started.eq((started | delimiter) & ~sink.last)", "started.eq(started | delimiter)",
     "after a frame with a short preamble the next one begins anywhere"),
    ("half of an octet's error", "lower.error | sink.error", "sink.error",
     "RX_ER with a lower nibble is lost"),
    ("the other half of an octet's error", "lower.error | sink.error", "lower.error",
     "RX_ER with an upper nibble is lost"),
    ("the last octet stays", "held.valid & (complete | ended)", "held.valid & complete",
     "a frame has no end"),
    ("an octet left over", "If(ended, held.valid.eq(0)),\n", "",
     "it comes once more, before the next preamble, with its error"),
    ("upper nibble goes first", "Mux(upper, sink.data[4:], sink.data[:4])",
     "Mux(upper, sink.data[:4], sink.data[4:])",
     "octets leave with their halves exchanged"),
    ("an octet in each clock", "sink.ready.eq(upper)", "sink.ready.eq(1)",
     "half of each octet is not sent"),
    ("always nibbles", "self.nibbles.eq(self.detection.mode)", "self.nibbles.eq(1)",
     "1000 Mb/s are over"),
]
