# SPDX-License-Identifier: BSD-2-Clause
"""Fetches descriptors that software handed over by the doorbell, a DMA line at a time."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from moderato.gateware.bus.dma         import DATA_BYTES, LINE_BYTES, ReadPort, request_layout
from moderato.gateware.registers.table import DESCRIPTOR, DESCRIPTOR_BYTES, INDEX_BITS, MAX_RING_ORDER

# Layout -------------------------------------------------------------------------------------------

BEATS_PER_DESCRIPTOR = DESCRIPTOR_BYTES//DATA_BYTES
PER_LINE             = LINE_BYTES//DESCRIPTOR_BYTES

words       = {word.name: word for word in DESCRIPTOR}
rx_checksum = {field.name: field for field in words["RX_CHECKSUM"].fields}
status      = {field.name: field for field in words["STATUS"].fields}

# Where a descriptor has the fields of its record (records.py). If the record's field is narrower, it has the
# upper bits: START and PLACE are in units of two octets.
FIELDS = {
    "address": ("ADDRESS",     None),
    "length":  ("CONTROL",     "LENGTH"),
    "request": ("CONTROL",     "INTERRUPT"),
    "silent":  ("CONTROL",     "NO_INTERRUPT"),
    "stamp":   ("CONTROL",     "TIMESTAMP"),
    "more":    ("CONTROL",     "MORE"),
    "segment": ("CONTROL",     "SEGMENT"),
    "network": ("CONTROL",     "NETWORK"),
    "start":   ("TX_CHECKSUM", "START"),
    "place":   ("TX_CHECKSUM", "PLACE"),
    "insert":  ("TX_CHECKSUM", "INSERT"),
    "tag":     ("TX_TAG",      "TAG"),
    "tagged":  ("TX_TAG",      "TAGGED"),
    "launch":  ("CONTROL",     "LAUNCH"),
    "drop":    ("CONTROL",     "DROP_LATE"),
    "time":    ("TX_LAUNCH",   None),
    "octets":  ("TX_SEGMENT",  "PAYLOAD"),
    "mss":     ("TX_MSS",      "MSS"),
}


def is_in_first_beat(name):
    return words[FIELDS[name][0]].offset < DATA_BYTES


def bits_of(name, width, beat):
    """The bits of a field, in the `beat` of its descriptor that has it."""
    word, field = FIELDS[name]
    lsb = 8*(words[word].offset % DATA_BYTES)
    msb = lsb + 32
    if field is not None:
        [place] = [f for f in words[word].fields if f.name == field]
        lsb, msb = lsb + place.lsb, lsb + place.lsb + place.width
    return beat[msb - width:msb]


def descriptor_address(base, order, index, half=0):
    """Address, in units of the bus's 8 bytes, of one half of a descriptor.

    A ring starts with a line, so that only the number of the line is added to its base.
    """
    slot    = [index[bit] & (order > bit) for bit in range(MAX_RING_ORDER)]
    in_line = log2_int(PER_LINE)
    return Cat(C(half, 1), *slot[:in_line], base[log2_int(LINE_BYTES):] + Cat(*slot[in_line:]))


def status_address(base, order, index):
    """Address of the half that is written back: RX_CHECKSUM or TX_CHECKSUM, then STATUS."""
    return descriptor_address(base, order, index, half=words["RX_CHECKSUM"].offset//DATA_BYTES)


def status_beat(index, order, sum=None, tci=None, **fields):
    """The 8 bytes written back: STATUS with its PHASE and the given fields; before it a sum and a tag, a stamp, or 0."""
    value  = (~(index >> order) & 1) << status["PHASE"].lsb
    for name, bits in fields.items():
        value = value | (bits << status[name.upper()].lsb)
    value = value << 8*(words["STATUS"].offset - words["RX_CHECKSUM"].offset)
    value = value if tci is None else value | (tci << rx_checksum["TCI"].lsb)
    return value if sum is None else value | (sum << rx_checksum["SUM"].lsb)

# Fetcher ------------------------------------------------------------------------------------------

class DescriptorFetcher(LiteXModule):
    """Keeps up to two lines of descriptors ready on `source`.

    It reads no descriptor at or after `producer`; `available` is the number still to be read. `starved`: it
    has delivered every descriptor that was handed over. After a bus error it can't trust what it read, and
    stops until the ring is disabled: `failed`.

    layout  of the records that it delivers (records.py).
    """
    def __init__(self, layout):
        first_layout = [(name, width) for name, width in layout if is_in_first_beat(name)]
        whole        = len(first_layout) < len(layout) # Both beats of a descriptor are needed.

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
        self.idle    = Signal() # No fetch in progress.
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

        # Requests: up to the end of the line or to the producer, whichever comes first. Buffered, because a
        # doorbell or the end of `enable` must not change a request that AXI has seen.
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

        # Answers: the first beat of a descriptor holds all fields but those of checksums, tags and segments.
        # ------------------------------------------------------------------------------------------------
        even = Signal(reset=1)
        self.sync += If(port.valid, even.eq(port.last | ~even))

        first = Record(first_layout) if whole else fifo.sink
        self.comb += [
            fifo.sink.valid.eq(port.valid & (~even if whole else even) & ~port.error & ~failed),
            [getattr(first, name).eq(bits_of(name, width, port.data)) for name, width in first_layout],
        ]
        if whole:
            kept = Record(first_layout)
            self.sync += If(port.valid & even, kept.eq(first))
            self.comb += [getattr(fifo.sink, name).eq(getattr(kept, name)) for name, _ in first_layout]
            self.comb += [getattr(fifo.sink, name).eq(bits_of(name, width, port.data))
                for name, width in layout if not is_in_first_beat(name)]
