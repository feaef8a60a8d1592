# SPDX-License-Identifier: BSD-2-Clause
"""VLAN tags of IEEE 802.1Q: which one a frame has, whether its VLAN is wanted, and the tag as it is sent.

A tag (C-tag: type 0x8100, then the tag control information) stands in octets 12 to 15: a word of its
own, which can be left out, or put in, as a whole.
"""

from migen import *

from litex.gen import *

from moderato.gateware.frame.observer import Observer

CTAG       = bytes.fromhex("8100") # Its type.
PLACE      = 3  # The word that is the tag,
TAG_OCTETS = 4  # and its octets.
TCI_BITS   = 16
VID_BITS   = 12
ROW_BITS   = 16 # VLANs whose membership is written at once.


def swapped(tci):
    """The octets of a TCI as a number: in the order of the wire, the first one in bits 7:0, or back."""
    return Cat(tci[8:], tci[:8])


def tag(tci):
    """The word of a tag."""
    return Cat(C(int.from_bytes(CTAG, "little"), 16), swapped(tci))

# Tag ----------------------------------------------------------------------------------------------

class Tag(Observer):
    """The VLAN tag of a frame.

    strip   tags are to be taken out,
    out     the word that passes is a tag that is taken out.

    From the clock after the tag until the next frame: whether the frame is `tagged`, with `tci`, and
    `stripped`, and how many `octets` were taken out.
    """
    def __init__(self):
        super().__init__()
        self.strip    = Signal()
        self.out      = Signal()
        self.tagged   = Signal()
        self.tci      = Signal(TCI_BITS)
        self.stripped = Signal()
        self.octets   = Signal(max=TAG_OCTETS + 1)

        # # #

        passed = Signal(max=PLACE + 2) # Words of this frame, as far as they count.
        place  = Signal(max=PLACE + 2) # Of `data`.
        here   = Signal()
        self.comb += [
            place.eq(Mux(self.first, 0, passed)),
            here.eq((place == PLACE) & (self.data[:16] == int.from_bytes(CTAG, "little"))),
            self.out.eq(here & self.strip),
            self.octets.eq(Mux(self.stripped, TAG_OCTETS, 0)),
        ]
        self.sync += If(self.take,
            If(place != PLACE + 1, passed.eq(place + 1)),
            If(self.first,
                self.tagged.eq(0),
                self.stripped.eq(0),
            ),
            If(here,
                self.tagged.eq(1),
                self.stripped.eq(self.strip),
                self.tci.eq(swapped(self.data[16:])),
            ),
        )

# Membership ---------------------------------------------------------------------------------------

class Membership(LiteXModule):
    """A table of the VLANs that this station is in: `member` says, two clocks late, whether it is in
    `vid`, or none is meant (VID 0: priority only). Each write of a row delays it by a clock.

    write, row, members  of VLANs 16*row to 16*row + 15, bit n of `members` is that of the nth.

    What is written to no row is anything after a power-up, and stays over a reset.
    """
    def __init__(self):
        self.vid     = Signal(VID_BITS)
        self.member  = Signal()
        self.write   = Signal()
        self.row     = Signal(VID_BITS - log2_int(ROW_BITS))
        self.members = Signal(ROW_BITS)

        # # #

        in_row     = log2_int(ROW_BITS)
        storage    = Memory(ROW_BITS, 2**VID_BITS//ROW_BITS)
        write_port = storage.get_port(write_capable=True, mode=READ_FIRST)
        read_port  = storage.get_port(has_re=True, mode=READ_FIRST)
        # No row is read in the clock in which one is written (FrameFIFO tells what this is for).
        storage.attr = {("no_rw_check", 1)}
        self.specials += storage, write_port, read_port
        self.comb += [
            write_port.adr.eq(self.row),
            write_port.dat_w.eq(self.members),
            write_port.we.eq(self.write),
            read_port.adr.eq(self.vid[in_row:]),
            read_port.re.eq(~self.write),
            self.member.eq(((read_port.dat_r >> self.vid[:in_row]) & 1) | (self.vid == 0)),
        ]

    def connect_registers(self, regs):
        self.comb += [
            self.write.eq(regs.strobe["VLAN_TABLE"]),
            Cat(self.members, self.row).eq(regs.data),
        ]
