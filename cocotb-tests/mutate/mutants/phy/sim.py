# SPDX-License-Identifier: BSD-2-Clause
TESTS = ["sim-all", "test_mac_gated"]

MUTANTS = [
    ("the gap is one octet short", "Mux(sink.last, eth_interpacket_gap, 0)",
     "Mux(sink.last, eth_interpacket_gap - 1, 0)",
     "frames are closer than 96 bit times"),
    ("a clock's credit is lost",
     "octets*octet_cost - pads.link_mbps", "octets*octet_cost",
     "the link is slower than its rate"),
    ("an error marks only one lane", "Replicate(pads.rx_error, 4)", "pads.rx_error",
     "no effect: one bad word makes a frame bad",
     "receive.py checks every lane that holds an octet, and each word has lane 0"),
    ("last_be is not cleared", "source.last_be.eq(0),\n", "",
     "words after a frame's end are marked as ends"),
    ("sleeps with a word for the MAC", "pads.rx_valid | source.valid", "pads.rx_valid",
     "with a gated clock, a word from the wire is stuck"),
]
