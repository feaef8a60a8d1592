# SPDX-License-Identifier: BSD-2-Clause
TESTS = ["8-core", "sim-all", "test_mac_gmii", "mii-wire", "test_mac_gated"]

MUTANTS = [
    ("stages are not reset after a drop",
     "stage.reset.eq(self.tx_cdc.broken)", "stage.reset.eq(0)",
     "the next frame starts with dropped octets, or within a word"),
    ("received frames wait instead of being cut", ", waits=False)", ")",
     "a frame without room continues without some of its words"),
    ("frames have no gap", "tx_stages.append(self.tx_gap)", "pass",
     "frames touch each other on the wire"),
    ("`last` requires a full word",
     "self.source.last.eq(self.rx_cdc.source.last_be != 0)",
     "self.source.last.eq(self.rx_cdc.source.last_be == 8)",
     "frames whose length is no multiple of 4 have no end"),
    ("the Tx clock-crossing FIFO holds 2 words",
     "CDC_DEPTH  = 16", "CDC_DEPTH  = 2",
     "words cross slower than the wire takes them"),
    ("sleeps with a word for the PHY",
     "Mux(phy.sink.valid, phy.sink.ready, self.tx_cdc.source.valid)", "phy.sink.valid",
     "with a gated clock, the preamble never starts"),
    ("sleeps while the PHY delivers words",
     "self.awake.eq(phy.awake |\n", "self.awake.eq(0 |\n",
     "with a gated clock, words from the wire are lost"),
]
