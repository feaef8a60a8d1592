# SPDX-License-Identifier: BSD-2-Clause
TESTS = ["test_mac_rates"]

MUTANTS = [
    ("RX_ER is the falling edge", "control[0] ^ control[1]", "control[1]",
     "each good octet is marked"),
    ("nobody marks", "word.error.eq(control[0] ^ control[1])", "word.error.eq(0)",
     "RX_ER is lost"),
    ("never ends", "source.last.eq(word.valid & ~control[0])", "source.last.eq(0)",
     "a frame has no end"),
    ("halves of the clock exchanged", "(pads.rx_data[n], data[n], data[n + 4])",
     "(pads.rx_data[n], data[n + 4], data[n])",
     "octets come with their halves exchanged"),
]
