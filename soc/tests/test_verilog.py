# SPDX-License-Identifier: BSD-2-Clause
"""Verilog as LiteX writes it, of which equal designs make equal files."""

from moderato.soc.verilog import normalise

HEAD = """\
// Filename  : top.v
//------------------------------------------------------------------------------

/*
top
└─── crg (_CRG)
│    └─── pll (ECP5PLL)
│    │    └─── [EHXPLLL]
"""
TAIL = """\
└─── sdram (SDRAM)
*/

module top();
assign b = a;
assign a = c;
endmodule
"""
CELLS = ["│    └─── [ECLKSYNCB]\n", "│    └─── [CLKDIVF]\n", "│    └─── [DELAYG]\n"]


def test_cells_are_in_order_and_stamps_are_gone(tmp_path):
    """The lines of the code stay as they are, and where they are."""
    made = []
    for stamp, cells in ("2026-01-01", CELLS), ("2026-01-02", CELLS[::-1]):
        file = tmp_path / "top.v"
        file.write_text(HEAD.replace("//-", f"// Date      : {stamp}\n// LiteX sha1 : --------\n//-", 1)
                        + "".join(cells) + TAIL)
        normalise(file)
        made.append(file.read_text())
    assert made == [HEAD + "".join(sorted(CELLS)) + TAIL] * 2
