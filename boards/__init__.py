# SPDX-License-Identifier: BSD-2-Clause
"""One file per FPGA board, each with a class `Board`; and how bitstreams are built from them."""

# What --board is called, and the module that it is.
BOARDS = ("versa_ecp5", "ecpix5", "colorlight_5a_75b")

# Those whose memory is too small for it.
WITHOUT_LINUX = ("colorlight_5a_75b",)

# Those with one port.
WITHOUT_PAIR = ("ecpix5",)

# What the MACs of a board are: Moderato, Moderato with all its options, two that forward flows to each
# other, LiteEth's.
NICS = ("moderato", "offload", "flows", "liteeth")

# Who knows the speed of a port. Fixed: the PHY chip negotiates by itself, and 1000 Mb/s is all that
# the FPGA can do. Negotiated: Linux asks the chip over MDIO, and the FPGA follows it.
LINKS = ("fixed", "negotiated")
