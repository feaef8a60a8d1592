# SPDX-License-Identifier: BSD-2-Clause
"""Received frames as they pass word by word: which octets count, and modules that watch them."""

from migen import *

from litex.gen import *


def unless(condition, *statements):
    """The statements where `condition`, if there is one, is 0."""
    return statements if condition is None else [If(~condition, *statements)]

# Lanes --------------------------------------------------------------------------------------------

class Lanes(LiteXModule):
    """Which octets of the current word of `sink` belong to the frame: `lanes`, `word_octets` of them."""
    def __init__(self, sink):
        self.word_octets = word_octets = Signal(3)
        self.lanes       = lanes       = Signal(4)

        # # #

        # last_be marks the last octet, one-hot.
        self.comb += [
            word_octets.eq(4),
            If(sink.last, Case(sink.last_be, {
                0b0001:    word_octets.eq(1),
                0b0010:    word_octets.eq(2),
                0b0100:    word_octets.eq(3),
                "default": word_octets.eq(4),
            })),
            Case(word_octets, {n: lanes.eq(2**n - 1) for n in range(1, 5)}),
        ]

# Observer -----------------------------------------------------------------------------------------

class Observer(LiteXModule):
    """Sees each word of a frame once.

    take   the word `data` passes in this clock,
    first  as the first one of a frame,
    data   with the word's first octet in bits 7:0.
    """
    def __init__(observer): # Not `self`: Migen would name these signals by the class twice.
        observer.take  = Signal()
        observer.first = Signal()
        observer.data  = Signal(32)

    def observe(self, sink, first):
        """Connects it to a stream of frames whose next word is the `first` one of a frame."""
        self.comb += [
            self.take.eq(sink.valid & sink.ready),
            self.first.eq(first),
            self.data.eq(sink.data),
        ]
