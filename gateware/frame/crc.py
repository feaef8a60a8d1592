# SPDX-License-Identifier: BSD-2-Clause
"""The CRC-32 of IEEE 802.3 as expressions.

LiteEth's CRC engines are modules that a simulator evaluates in every clock, four per direction at 32
bits: three quarters of the MAC's simulation time. Here, a step is an expression inside the If that uses
it, for a word or an octet. A simulator skips it while the line is idle, and it needs fewer LUTs.
"""

from functools import reduce
from operator  import xor

from migen import *

POLYNOMIAL = 0x04C11DB7
INIT       = 0xFFFFFFFF
RESIDUE    = 0xC704DD7B # After an undamaged frame with its FCS.


def crc32_step(crc, data):
    """The register after `data`. Bit 31 of the register and bit 0 of the data come first."""
    terms = [[crc[i]] for i in range(32)]
    for n in range(len(data)):
        # One expression, which many of the sums share.
        terms[31 - n] = [crc[31 - n] ^ data[n]]
    for _ in range(len(data)):
        feedback = terms.pop()
        terms = [feedback] + [term + (feedback if (POLYNOMIAL >> (i + 1)) & 1 else [])
            for i, term in enumerate(terms)]
    return Cat(*[_xor(t) for t in terms])


def without_zeros(crc):
    """The register before it took the last octet, which was 0."""
    bits = [[crc[i]] for i in range(32)]
    for _ in range(8):
        feedback = bits[0] # Bit 0 of the polynomial is set.
        bits = [bits[i + 1] + (feedback if (POLYNOMIAL >> (i + 1)) & 1 else []) for i in range(31)] + [feedback]
    return Cat(*[_xor(b) for b in bits])


def residue(zeros):
    """The register after a good frame with its FCS and the given number of zero octets."""
    crc = RESIDUE
    for _ in range(8*zeros):
        crc = (crc << 1 ^ POLYNOMIAL*(crc >> 31)) & 0xFFFFFFFF
    return crc


def fcs_octet(crc, n):
    """Octet n (0 goes on the wire first) of the FCS for this register."""
    return Cat(*[~crc[31 - 8*n - i] for i in range(8)])


def _xor(terms):
    """XOR of the terms; equal terms cancel."""
    odd = {}
    for term in terms:
        if odd.pop(id(term), None) is None:
            odd[id(term)] = term
    return reduce(xor, odd.values())
