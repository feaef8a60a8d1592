# SPDX-License-Identifier: BSD-2-Clause
"""VLAN tags of IEEE 802.1Q: a received frame's tag, the membership of its VLAN, and the tag of a sent frame.

A tag (C-tag: type 0x8100, then the tag control information) is in octets 12 to 15. That is one whole word,
which can be removed or inserted.
"""

from migen import *

from litex.gen import *

from moderato.gateware.frame.observer import Observer

CTAG       = bytes.fromhex("8100") # The type.
PLACE      = 3  # The word of the tag.
TAG_OCTETS = 4
TCI_BITS   = 16
VID_BITS   = 12
ROW_BITS   = 16 # VLANs in a row of the table.


def swapped(tci):
    """Converts a TCI between a number and the order of the wire, with the first octet in bits 7:0."""
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
    """A table of the station's VLANs. Two clocks later, `member` is set if the station is a member of `vid`; VID
    0 means priority only and always counts as one. Each write of a row delays the result by a clock.

    write, row, members  writes a row: bit n of `members` is VLAN 16*row + n.

    After power-up, rows are undefined until they are written. A reset keeps them.
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
        # No row is read in the clock in which one is written (see FrameFIFO).
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
