# SPDX-License-Identifier: BSD-2-Clause
"""One file per FPGA board, each with a class `Board`; and how bitstreams are built from them."""

# What --board is called, and the module that it is.
BOARDS = ("versa_ecp5", "ecpix5")

# Boards that people will ask for, and why they are not there.
REFUSED = {
    "colorlight_5a_75b":
        "its 8 MiB of SDRAM are too small for Linux's memory map (32 MiB), and a SoC that only "
        "forwards fills 91 % of its FPGA, where the ports miss 125 MHz (docs/boards.md)",
}
