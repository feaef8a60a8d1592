# SPDX-License-Identifier: BSD-2-Clause
"""The records that accompany a frame from stage to stage, as layouts [(name, width), ...]. Their fields depend
on the MAC's options (options.py)."""

from moderato.gateware.frame.checksum import SUM_BITS
from moderato.gateware.frame.vlan     import TCI_BITS

def chosen(*fields):
    """The layout of those fields (name, width, exists) that exist."""
    return [(name, width) for name, width, there in fields if there]

# Received Frames ----------------------------------------------------------------------------------

def rx_frame(options):
    """In the Rx FIFO:

    length      octets without FCS.
    multicast, broadcast
                the kind of destination.
    urgent      the frame raises its interrupt at once.
    sum         the one's complement sum of the octets after the Ethernet header.
    tagged, tci the VLAN tag that was removed.
    stamped     the frame's first word is its time stamp.
    continues   the frame continues the one before it.
    queue       the frame's queue.
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
    """A frame, or with `gather` a piece of it, as the driver hands it over:

    address, length
                of the piece in memory; the length in octets.
    request, silent
                its completion raises an interrupt at once, or does not count for interrupts.
    stamp       it completes with a time stamp.
    more        another piece of the frame follows.
    segment     the frame is cut into segments, and this piece has the headers.
    network     offset of the IP header, in pairs of octets.
    start, place, insert
                the checksum from `start` on is inserted at `place`: both in pairs of octets.
    tag, tagged a VLAN tag is inserted.
    launch, time
                it leaves at this time, in ns;
    drop        it is dropped if that is over.
    octets, mss octets of payload in all segments, and in each of them.
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
        ("launch",  1,        options.launch),
        ("drop",    1,        options.launch),
        ("time",    32,       options.launch),
        ("octets",  16,       options.segment),
        ("mss",     14,       options.segment),
    )


def rx_descriptor():
    """A buffer that the driver hands over."""
    return [("address", 32), ("length", 16), ("request", 1), ("silent", 1)]


def tx_frame(options):
    """In the Tx FIFO:

    length        octets without FCS.
    offset        of the frame in its first word.
    error         a read failed.
    place, insert a checksum is to be inserted at this pair of octets.
    tag, tagged   a VLAN tag is to be inserted.
    launch, drop, time
                  as in its descriptor.
    stamp         the frame's completion waits for a time stamp: one bit for each ring that writes to the FIFO.
    """
    return chosen(
        ("length", 14,             True),
        ("offset", 3,              True),
        ("error",  1,              True),
        ("place",  13,             options.tx_checksum),
        ("insert", 1,              options.tx_checksum),
        ("tag",    TCI_BITS,       options.vlan),
        ("tagged", 1,              options.vlan),
        ("launch", 1,              options.launch),
        ("drop",   1,              options.launch),
        ("time",   32,             options.launch),
        ("stamp",  1 if options.scheduled else options.queues, options.timestamp),
    )
