# SPDX-License-Identifier: BSD-2-Clause
TESTS = ["rates-resets", "test_mac_rates"]

MUTANTS = [
    ("a reset clears the measured rate",
     "self.cd_measure  = ClockDomain(reset_less=True)\n        self.comb += [",
     "self.cd_measure  = ClockDomain()\n        self.comb += [\n"
     "            self.cd_measure.rst.eq(ResetSignal()),",
     "frames are lost until the rate is measured again"),
    ("received nibbles are swapped", "Cat(lower.nibble, nibble)", "Cat(nibble, lower.nibble)",
     "octets arrive with their halves swapped"),
    ("alignment ignores the delimiter", "(lower.valid | delimiter)", "lower.valid",
     "an odd number of preamble nibbles shifts the frame"),
    ("a delimiter is detected within a frame", "~started & (nibble == SFD)", "nibble == SFD",
     "0xD in a frame shifts all that follows"),
    ("`started` is not cleared at a frame's end",
     "started.eq((started | delimiter) & ~sink.last)", "started.eq(started | delimiter)",
     "after a frame with a short preamble, the next one is misaligned"),
    ("an error in the lower nibble is lost", "lower.error | sink.error", "sink.error",
     "a damaged octet counts as good"),
    ("an error in the upper nibble is lost", "lower.error | sink.error", "lower.error",
     "a damaged octet counts as good"),
    ("the last octet is not delivered", "held.valid & (complete | ended)", "held.valid & complete",
     "a frame has no end"),
    ("the last octet is not removed", "If(ended, held.valid.eq(0)),\n", "",
     "it comes again before the next preamble, with its error"),
    ("sent nibbles are swapped", "Mux(upper, sink.data[4:], sink.data[:4])",
     "Mux(upper, sink.data[:4], sink.data[4:])",
     "octets leave with their halves swapped"),
    ("an octet is taken in each clock", "sink.ready.eq(upper)", "sink.ready.eq(1)",
     "half of each octet is not sent"),
    ("nibbles are sent at every rate", "self.nibbles.eq(self.detection.mode)", "self.nibbles.eq(1)",
     "1000 Mb/s does not work"),
]
