#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The ULX3S, a target of litex-boards without Ethernet, with a PHY module and the MAC.

    python ulx3s.py --build

The module has a LAN8720 (RMII, 100 Mb/s) and makes the reference clock itself. PINS has its wiring to
the header. The options are the target's.
"""

from liteeth.phy.rmii import LiteEthPHYRMII
from litex.build.generic_platform import IOStandard, Pins, Subsignal
from litex_boards.targets import radiona_ulx3s as target

from moderato import add_moderato

PINS = [  # of the header: GP0 to GP3 and GN0 to GN3
    ("eth_clocks", 0, Subsignal("ref_clk", Pins("B11")), IOStandard("LVCMOS33")),
    (
        "eth",
        0,
        Subsignal("rx_data", Pins("A10 A11")),
        Subsignal("crs_dv", Pins("C11")),
        Subsignal("tx_en", Pins("C10")),
        Subsignal("tx_data", Pins("A9 B10")),
        IOStandard("LVCMOS33"),
    ),
]


class SoC(target.BaseSoC):
    def __init__(self, **options):
        super().__init__(**options)
        self.platform.add_extension(PINS)
        self.ethphy = LiteEthPHYRMII(
            self.platform.request("eth_clocks"), self.platform.request("eth"), refclk_cd=None
        )
        add_moderato(self, phy=self.ethphy)


target.BaseSoC = SoC
target.main()
