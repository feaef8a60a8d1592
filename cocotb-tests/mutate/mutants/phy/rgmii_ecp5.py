# SPDX-License-Identifier: BSD-2-Clause
TESTS = ["test_mac_rates"]

MUTANTS = [
    ("RX_ER is the raw falling edge", "control[0] ^ control[1]", "control[1]",
     "each good octet is marked as an error"),
    ("RX_ER is ignored", "word.error.eq(control[0] ^ control[1])", "word.error.eq(0)",
     "errors of the PHY are lost"),
    ("`last` is never set", "source.last.eq(word.valid & ~control[0])", "source.last.eq(0)",
     "a frame has no end"),
    ("clock edges are swapped", "(pads.rx_data[n], data[n], data[n + 4])",
     "(pads.rx_data[n], data[n + 4], data[n])",
     "octets arrive with their halves swapped"),
]
