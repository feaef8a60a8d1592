# SPDX-License-Identifier: BSD-2-Clause
TESTS = ["sim-all", "test_mac_gated"]

MUTANTS = [
    ("a shorter gap", "Mux(sink.last, eth_interpacket_gap, 0)",
     "Mux(sink.last, eth_interpacket_gap - 1, 0)",
     "frames are closer than 96 bit times"),
    ("a clock's credit is lost",
     "octets*octet_cost - pads.link_mbps", "octets*octet_cost",
     "the link is slower than its rate"),
    ("one lane's error only", "Replicate(pads.rx_error, 4)", "pads.rx_error",
     "nothing: a frame with a bad word is bad",
     "receive.py takes an error in any lane that holds an octet, and each word has lane 0"),
    ("last_be of the word before", "source.last_be.eq(0),\n", "",
     "the words behind a frame's end are ends"),
    ("asleep with a word for the MAC", "pads.rx_valid | source.valid", "pads.rx_valid",
     "behind a clock gate a word from the wire stays"),
]
