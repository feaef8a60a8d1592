# SPDX-License-Identifier: BSD-2-Clause
"""What goes with a frame from stage to stage, as layouts [(name, width), ...]: which fields there are is a
matter of the MAC's options (options.py)."""

from moderato.gateware.frame.checksum import SUM_BITS
from moderato.gateware.frame.vlan     import TCI_BITS

def chosen(*fields):
    """Of (name, width, whether it is there)."""
    return [(name, width) for name, width, there in fields if there]

# Received Frames ----------------------------------------------------------------------------------

def rx_frame(options):
    """In the Rx FIFO:

    length      octets without FCS.
    multicast, broadcast
                what its destination is.
    urgent      it raises its interrupt at once.
    sum         the one's complement sum of what follows the Ethernet header.
    tagged, tci the VLAN tag that was taken out.
    stamped     the frame's first word is its time stamp.
    continues   it continues the frame before it.
    queue       the one that it is for.
    """
    return chosen(
        ("length",    14,       True),
        ("multicast", 1,        True),
        ("broadcast", 1,        True),
        ("urgent",    1,        True),
        ("sum",       SUM_BITS, options.rx_checksum),
        ("tagged",    1,        options.vlan),
        ("tci",       TCI_BITS, options.vlan),
        ("stamped",   1,        options.timestamp),
        ("continues", 1,        options.merge),
        ("queue",     1,        options.queues > 1),
    )


def flow_frame(options):
    """In the flow FIFO:

    length  octets without padding and FCS.
    entry   the entry of the flow table by which it leaves.
    """
    return [("length", 14), ("entry", options.flows)]

# Sent Frames --------------------------------------------------------------------------------------

def tx_descriptor(options):
    """As the driver hands a frame over, or with `gather` a piece of it:

    address, length
                of it in memory, in octets.
    request, silent
                its completion raises an interrupt at once, or counts for none.
    stamp       it completes with a time stamp.
    more        another piece of the frame follows.
    segment     the frame is cut into segments: this is the headers,
    network     with IP's at so many pairs of octets.
    start, place, insert
                a checksum, summed from a pair of octets on, is inserted at another one.
    tag, tagged a VLAN tag is inserted.
    octets, mss of all payload to be cut, and of each segment's.
    """
    return chosen(
        ("address", 32,       True),
        ("length",  16,       True),
        ("request", 1,        True),
        ("silent",  1,        True),
        ("stamp",   1,        options.timestamp),
        ("more",    1,        options.gather),
        ("segment", 1,        options.segment),
        ("network", 7,        options.segment),
        ("start",   13,       options.tx_checksum),
        ("place",   13,       options.tx_checksum),
        ("insert",  1,        options.tx_checksum),
        ("tag",     TCI_BITS, options.vlan),
        ("tagged",  1,        options.vlan),
        ("octets",  16,       options.segment),
        ("mss",     14,       options.segment),
    )


def rx_descriptor():
    """A buffer, as the driver hands it over."""
    return [("address", 32), ("length", 16), ("request", 1), ("silent", 1)]


def tx_frame(options):
    """In the Tx FIFO:

    length        octets without FCS,
    offset        from this octet of the first word on.
    error         the bus failed while it was read.
    place, insert a checksum is to be inserted, at which pair of octets.
    tag, tagged   a VLAN tag is.
    stamp         its completion waits for a time stamp, a bit for each ring whose it may be.
    """
    return chosen(
        ("length", 14,             True),
        ("offset", 3,              True),
        ("error",  1,              True),
        ("place",  13,             options.tx_checksum),
        ("insert", 1,              options.tx_checksum),
        ("tag",    TCI_BITS,       options.vlan),
        ("tagged", 1,              options.vlan),
        ("stamp",  options.queues, options.timestamp),
    )
