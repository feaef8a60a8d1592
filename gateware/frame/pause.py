# SPDX-License-Identifier: BSD-2-Clause
"""Received pause frames of IEEE 802.3 annex 31B: how to recognise them, and how long a pause lasts."""

from migen import *

from litex.gen import *

from moderato.gateware.frame.observer import Observer

# Octets of a MAC control frame. In words of 32 bits, the first octet is in bits 7:0.
GROUP   = bytes.fromhex("0180c2000001") # The address that bridges do not forward.
CONTROL = bytes.fromhex("8808")         # The type.
PAUSE   = bytes.fromhex("0001")         # The opcode.


def little(octets):
    """The number that these octets of the wire form in a word."""
    return int.from_bytes(octets, "little")

# Control Frame ------------------------------------------------------------------------------------

class ControlFrame(Observer):
    """From the clock after a frame's fifth word on: whether the frame has the type of MAC control (`control`)
    and its group address (`group`), and whether it pauses (`pause`), for `quanta`."""
    def __init__(self):
        super().__init__()
        self.group   = Signal()
        self.control = Signal()
        self.pause   = Signal()
        self.quanta  = Signal(16)

        # # #

        passed = Signal(3) # Words of this frame, as far as they count.
        place  = Signal(3) # Of `data`.
        data   = self.data
        self.comb += place.eq(Mux(self.first, 0, passed))
        self.sync += If(self.take & (place != 5),
            passed.eq(place + 1),
            Case(place, {
                0: self.group.eq(data == little(GROUP[:4])),
                1: self.group.eq(self.group & (data[:16] == little(GROUP[4:]))),
                3: [self.control.eq(data[:16] == little(CONTROL)), self.pause.eq(data[16:] == little(PAUSE))],
                4: self.quanta.eq(Cat(data[8:16], data[:8])),
            }),
        )

# Pause Timer --------------------------------------------------------------------------------------

class PauseTimer(LiteXModule):
    """A pause of `quanta`, each of `quantum` clocks, begins with `start`. `left` quanta remain; without `enable`,
    none do."""
    def __init__(self):
        self.enable  = Signal()
        self.quantum = Signal(16)
        self.start   = Signal()
        self.quanta  = Signal(16)
        self.left    = Signal(16)
        self.running = Signal()

        # # #

        clocks = Signal(16) # Left of this quantum.
        self.comb += self.running.eq(self.left != 0)
        self.sync += If(~self.enable,
            self.left.eq(0)
        ).Elif(self.start,
            self.left.eq(self.quanta),
            clocks.eq(self.quantum),
        ).Elif(self.running,
            If(clocks > 1,
                clocks.eq(clocks - 1)
            ).Else(
                clocks.eq(self.quantum),
                self.left.eq(self.left - 1),
            ),
        )
