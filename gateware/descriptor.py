# SPDX-License-Identifier: BSD-2-Clause
"""Fetches descriptors that software handed over by the doorbell, a DMA line at a time."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from moderato.gateware.dma       import DATA_BYTES, LINE_BYTES, ReadPort, request_layout
from moderato.gateware.registers import DESCRIPTOR, DESCRIPTOR_BYTES, INDEX_BITS, MAX_RING_ORDER

# Layout -------------------------------------------------------------------------------------------

BEATS_PER_DESCRIPTOR = DESCRIPTOR_BYTES//DATA_BYTES
PER_LINE             = LINE_BYTES//DESCRIPTOR_BYTES

words       = {word.name: word for word in DESCRIPTOR}
control     = {field.name: field for field in words["CONTROL"].fields}
rx_checksum = {field.name: field for field in words["RX_CHECKSUM"].fields}
tx_checksum = {field.name: field for field in words["TX_CHECKSUM"].fields}
tx_tag      = {field.name: field for field in words["TX_TAG"].fields}
status      = {field.name: field for field in words["STATUS"].fields}

# A descriptor as the rings see it, and what it says besides with a checksum to be inserted: START,
# PLACE in units of two octets; and with a VLAN tag.
descriptor_layout = [("address", 32), ("length", 16), ("request", 1), ("silent", 1)]
checksum_layout   = [("start", 13), ("place", 13), ("insert", 1)]
tag_layout        = [("tag", 16), ("tagged", 1)]


def descriptor_address(base, order, index, half=0):
    """Address, in units of the bus's 8 bytes, of one half of a descriptor.

    A ring starts with a line, so that only the number of the line is added to its base.
    """
    slot    = [index[bit] & (order > bit) for bit in range(MAX_RING_ORDER)]
    in_line = log2_int(PER_LINE)
    return Cat(C(half, 1), *slot[:in_line], base[log2_int(LINE_BYTES):] + Cat(*slot[in_line:]))


def status_address(base, order, index):
    """Of the half that is written back: RX_CHECKSUM or TX_CHECKSUM, then STATUS."""
    return descriptor_address(base, order, index, half=words["RX_CHECKSUM"].offset//DATA_BYTES)


def status_beat(index, order, sum=None, tci=None, **fields):
    """The 8 bytes written back: STATUS with its PHASE and the given fields, a sum and a tag or 0 before it."""
    value  = (~(index >> order) & 1) << status["PHASE"].lsb
    for name, bits in fields.items():
        value = value | (bits << status[name.upper()].lsb)
    value = value << 8*(words["STATUS"].offset - words["RX_CHECKSUM"].offset)
    value = value if tci is None else value | (tci << rx_checksum["TCI"].lsb)
    return value if sum is None else value | (sum << rx_checksum["SUM"].lsb)

# Fetcher ------------------------------------------------------------------------------------------

class DescriptorFetcher(LiteXModule):
    """Keeps up to two lines of descriptors ready on `source`.

    Owns the indices in [completed, producer): reads none at or beyond `producer`. `available`: so
    many are still to be read. `starved`: every descriptor handed over was delivered. A bus error
    while fetching stops it (what was read can't be trusted) until the ring is disabled: `failed`.

    checksum  it delivers checksum_layout, too;
    tag       and tag_layout.
    """
    def __init__(self, checksum=False, tag=False):
        layout = descriptor_layout + (checksum_layout if checksum else []) + (tag_layout if tag else [])
        whole  = checksum or tag # Both beats of a descriptor are needed.

        # Settings.
        self.enable = Signal()
        self.base   = Signal(32)
        self.order  = Signal(4)

        # Doorbell.
        self.doorbell       = Signal()
        self.doorbell_index = Signal(INDEX_BITS)

        # Results.
        self.port    = port = ReadPort()
        self.source  = source = stream.Endpoint(layout)
        self.starved = Signal()
        self.failed  = Signal()
        self.idle    = Signal() # No fetch under way.
        self.awake   = Signal()
        self.available = available = Signal(INDEX_BITS)

        # # #

        producer = Signal(INDEX_BITS)
        fetched  = Signal(INDEX_BITS) # Next index to fetch.
        busy     = Signal()
        failed   = self.failed

        self.fifo = fifo = ResetInserter()(stream.SyncFIFO(layout, 2*PER_LINE))
        self.comb += [
            fifo.reset.eq(~self.enable),
            fifo.source.connect(source),
            self.idle.eq(~busy),
            self.starved.eq(~busy & ~fifo.source.valid & (fetched == producer)),
        ]

        # Requests: up to the end of the line or to the producer, whichever comes first. Buffered,
        # because neither a doorbell nor the end of `enable` may change what AXI was offered.
        # ----------------------------------------------------------------------------------------
        self.request = request = stream.Buffer(request_layout)
        self.comb += request.source.connect(port.request)

        in_line   = Signal(max=PER_LINE + 1)
        count     = Signal(max=PER_LINE + 1)
        self.comb += [
            available.eq(producer - fetched),
            in_line.eq(PER_LINE - fetched[:log2_int(PER_LINE)]),
            count.eq(Mux(available < in_line, available, in_line)),
            request.sink.valid.eq(self.enable & ~busy & ~failed & (available != 0) &
                (fifo.level <= PER_LINE)),
            request.sink.address.eq(descriptor_address(self.base, self.order, fetched)),
            request.sink.last_beat.eq((count << log2_int(BEATS_PER_DESCRIPTOR)) - 1),
        ]
        self.comb += self.awake.eq(busy | self.doorbell | request.sink.valid)
        self.sync += [
            If(self.doorbell, producer.eq(self.doorbell_index)),
            If(request.sink.valid & request.sink.ready,
                busy.eq(1),
                fetched.eq(fetched + count),
            ),
            If(port.valid & port.last, busy.eq(0)),
            If(port.valid & port.error, failed.eq(1)),
            If(~self.enable & ~busy,
                producer.eq(0),
                fetched.eq(0),
                failed.eq(0),
            ),
        ]

        # Answers: the first beat of a descriptor holds all that the rings need, but for what is inserted.
        # ------------------------------------------------------------------------------------------------
        even = Signal(reset=1)
        self.sync += If(port.valid, even.eq(port.last | ~even))

        def bits(word, field):
            lsb = 8*(words[word].offset % DATA_BYTES) + field.lsb
            return port.data[lsb:lsb + field.width]

        first = Record(descriptor_layout) if whole else fifo.sink
        self.comb += [
            fifo.sink.valid.eq(port.valid & (~even if whole else even) & ~port.error & ~failed),
            first.address.eq(port.data[:32]),
            first.length.eq(bits("CONTROL", control["LENGTH"])),
            first.request.eq(bits("CONTROL", control["INTERRUPT"])),
            first.silent.eq(bits("CONTROL", control["NO_INTERRUPT"])),
        ]
        if whole:
            kept = Record(descriptor_layout)
            self.sync += If(port.valid & even, kept.eq(first))
            self.comb += [getattr(fifo.sink, name).eq(getattr(kept, name)) for name, _ in descriptor_layout]
        if checksum:
            self.comb += [
                fifo.sink.start.eq(bits("TX_CHECKSUM", tx_checksum["START"])[1:]),
                fifo.sink.place.eq(bits("TX_CHECKSUM", tx_checksum["PLACE"])[1:]),
                fifo.sink.insert.eq(bits("TX_CHECKSUM", tx_checksum["INSERT"])),
            ]
        if tag:
            self.comb += [
                fifo.sink.tag.eq(bits("TX_TAG", tx_tag["TAG"])),
                fifo.sink.tagged.eq(bits("TX_TAG", tx_tag["TAGGED"])),
            ]
