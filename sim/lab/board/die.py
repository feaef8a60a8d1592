# SPDX-License-Identifier: BSD-2-Clause
"""Degrees by the code of the FPGA's temperature sensor, which boards/die.py reads."""

# Degrees Celsius; Lattice FPGA-TN-02210, table 4.3.
DEGREES = (
    *(-58, -56, -54, -52, -45, -44, -43, -42, -41, -40, -39, -38, -37, -36, -30, -20),
    *(-10, -4, 0, 4, 10, 21, 22, 23, 24, 25, 26, 27, 28, 29, 40, 50),
    *(60, 70, 76, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 95, 96, 97),
    *(98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108, 116, 120, 124, 128, 132),
)
MAX_DEGREES = 85  # of a junction in commercial use


def degrees(register: int) -> int | None:
    """Degrees Celsius by the register's value; None: the sensor has not measured yet."""
    return DEGREES[register & 0x3F] if register >> 6 & 1 else None
