# SPDX-License-Identifier: BSD-2-Clause
"""2.5 Gb/s at 125 MHz, through both rings at once: test modules of several wires import what they have.

A frame of 64 octets and its 20 of preamble and gap take 84 octet times: 33.6 clocks.
"""

import random

from bench.mac import Mac
from mac_cases import MAX, MIN, keep_the_line_rate

LATENCY = 8  # clocks: of the lab's memory
LENGTHS = {  # octets without FCS
    "the shortest": [MIN] * 200,
    "64 to 128":    [*range(MIN, 125)] * 3,
    "the longest":  [MAX] * 20,
    "mixed":        random.Random(1).choices([MIN, MIN, *range(MIN, 125), MAX], k=120),
}


async def keep_the_rate(dut, lengths, slow, **start):
    """Frames back to back both ways, in a memory as the lab's whose channels pause at random as well:
    the octet times that they have, after all of them arrived."""
    mac = await Mac.start(dut, enable=False, driver={"rx_order": 7, "tx_order": 7}, **start)
    mac.memory.delay(LATENCY)
    mac.memory.slow(slow)
    await mac.driver.start()
    octets = await keep_the_line_rate(mac, lengths)
    counters = await mac.regs.counters()
    assert counters["RX_GOOD_FRAMES"] == counters["TX_GOOD_FRAMES"] == len(lengths)
    return mac, octets
