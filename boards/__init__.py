# SPDX-License-Identifier: BSD-2-Clause
"""One file per FPGA board, each with a class `Board`, and the build of their bitstreams."""

# The values of --board, which are modules of this package.
BOARDS = ("versa_ecp5", "ecpix5", "colorlight_5a_75b")

# The value of --board for the simulated system (`moderato board simulate`).
SIMULATED = "simulated"

# Boards with too little memory for Linux.
WITHOUT_LINUX = ("colorlight_5a_75b",)

# Boards with one port.
WITHOUT_PAIR = ("ecpix5",)

# The MACs of a board: Moderato; Moderato with all options; two that forward flows to each other;
# those whose frames leave at their times; LiteEth's.
NICS = ("moderato", "offload", "flows", "time", "liteeth")

# The speed of a port. Fixed: the PHY chip negotiates by itself, and the FPGA supports 1000 Mb/s only.
# Negotiated: Linux reads the chip's speed over MDIO, and the FPGA follows it.
LINKS = ("fixed", "negotiated")
