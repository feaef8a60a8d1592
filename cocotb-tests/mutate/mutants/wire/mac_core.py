# SPDX-License-Identifier: BSD-2-Clause
TESTS = ["8-core", "sim-all", "test_mac_gmii", "mii-wire", "test_mac_gated"]

MUTANTS = [
    ("octets of what is dropped stay",
     "stage.reset.eq(self.tx_cdc.broken)", "stage.reset.eq(0)",
     "the next frame begins with them, or in the middle of a word"),
    ("received frames wait", ", waits=False)", ")",
     "one that finds no room goes on without some of its words"),
    ("no gap", "tx_stages.append(self.tx_gap)", "pass",
     "frames touch each other on the wire"),
    ("the padding of a word counts",
     "self.source.last.eq(self.rx_cdc.source.last_be != 0)",
     "self.source.last.eq(self.rx_cdc.source.last_be == 8)",
     "frames whose length is no multiple of 4 have no end"),
    ("shallow Tx FIFO between the clocks",
     "CDC_DEPTH  = 16", "CDC_DEPTH  = 2",
     "words cross slower than the wire takes them"),
    ("asleep with a word for the PHY",
     "Mux(phy.sink.valid, phy.sink.ready, self.tx_cdc.source.valid)", "phy.sink.valid",
     "behind a clock gate the preamble never starts"),
    ("asleep when the PHY speaks",
     "self.awake.eq(phy.awake |\n", "self.awake.eq(0 |\n",
     "behind a clock gate words from the wire are lost"),
]
