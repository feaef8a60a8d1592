# SPDX-License-Identifier: BSD-2-Clause
"""The temperature sensor of an ECP5's die (Lattice FPGA-TN-02210, Power Consumption and Management for
ECP5 and ECP5-5G Devices)."""

from litex.gen import LiteXModule
from litex.soc.interconnect.csr import CSRField, CSRStatus
from migen import If, Instance, Signal

PERIOD_BITS, PULSE_BITS = 20, 13  # of clocks: 12 ms and 0.1 ms at 84 MHz


class DieTemperature(LiteXModule):
    """Reads the sensor again and again; the register has its last code."""

    def __init__(self):
        self._code = CSRStatus(
            fields=[
                CSRField("code", size=6, description="The temperature, by the table of that document."),
                CSRField("valid", description="The sensor has measured."),
            ]
        )

        # # #

        count = Signal(PERIOD_BITS)
        out = Signal(8)
        self.specials += Instance(
            "DTR",
            i_STARTPULSE=count[PULSE_BITS:] == 0,
            **{f"o_DTROUT{bit}": out[bit] for bit in range(len(out))},
        )
        self.sync += [
            count.eq(count + 1),
            If(out[7], self._code.fields.code.eq(out[:6]), self._code.fields.valid.eq(1)),
        ]
