# SPDX-License-Identifier: BSD-2-Clause
"""The MAC's DMA on an AXI4 bus of a SoC: 32 or 64 bits wide, with addresses of up to 64 bits.

LiteX's converter from 64 to 32 bits loses a read's error if only the first half of a beat has one.
"""

from migen import *

from litex.gen import *

from litex.soc.interconnect import axi

from moderato.gateware.bus.dma import DATA_BYTES

WIDTHS = (32, 64)

# AxCACHE: modifiable, neither cached nor bufferable. Memory itself responds to a write, so a status that
# follows the response cannot overtake the data (AMBA AXI, A4.4). With bufferable, 0b0011, an interconnect may
# respond early. A cache-coherent port needs 0b1111 (write-back, allocate).
NON_CACHEABLE = 0b0010

# AXI Master ---------------------------------------------------------------------------------------

class AXIMaster(LiteXModule):
    """Connects ModeratoMAC.dma to `bus`.

    dma            ModeratoMAC.dma.
    bus            an axi.AXIInterface of 32 or 64 bits; by default a new one with `data_width` and
                   `address_width`.
    address_high   bits 32 and above of each address, because the MAC's addresses have 32 bits.
    cache, prot    AxCACHE and AxPROT of all bursts (AMBA AXI, A4.4 and A4.7).

    On 32 bits, each beat becomes two, and its response is the worse one of both.
    """
    def __init__(self, dma, bus=None, data_width=64, address_width=32, address_high=0,
        cache=NON_CACHEABLE, prot=0):
        if bus is None:
            bus = axi.AXIInterface(data_width=data_width, address_width=address_width, id_width=1)
        if bus.data_width not in WIDTHS:
            raise ValueError(f"The MAC's AXI master is 32 or 64 bits wide, not {bus.data_width}: put LiteX's "
                "axi.AXIConverter between.")
        high = max(0, bus.address_width - 32)
        for name, value, bits, meaning in (
            ("address_high", address_high, high, f"an AXI bus with addresses of {bus.address_width} bits has {high} "
                "beyond the MAC's 32"),
            ("cache", cache, len(bus.aw.cache), "AxCACHE"),
            ("prot",  prot,  len(bus.aw.prot),  "AxPROT")):
            if isinstance(value, bool) or not hasattr(value, "__index__") or not 0 <= value < 2**bits:
                raise ValueError(f"{name} must be 0 to {2**bits - 1:#x}, not {value!r}: {meaning}.")
        self.bus = bus

        # # #

        halves = 8*DATA_BYTES//bus.data_width

        # Addresses.
        # ----------
        for source, sink in (dma.aw, bus.aw), (dma.ar, bus.ar):
            self.comb += [
                sink.valid.eq(source.valid),
                source.ready.eq(sink.ready),
                sink.addr.eq(Cat(source.addr, Constant(address_high, 32))),
                sink.burst.eq(axi.BURST_INCR),
                sink.size.eq(axi.AXSIZE[bus.data_width//8]),
                sink.len.eq(Cat(C(1, 1), source.len) if halves == 2 else source.len),
                sink.id.eq(source.id),
                sink.cache.eq(cache),
                sink.prot.eq(prot),
            ]

        # Acknowledgements.
        # -----------------
        self.comb += [
            dma.b.valid.eq(bus.b.valid),
            dma.b.resp.eq(bus.b.resp),
            dma.b.id.eq(bus.b.id),
            bus.b.ready.eq(dma.b.ready),
        ]

        # Data.
        # -----
        if halves == 1:
            self.comb += [
                dma.w.connect(bus.w, omit={"id", "user", "dest"}),
                bus.r.connect(dma.r, omit={"user", "dest"}),
            ]
            return
        second_w, second_r = Signal(), Signal()
        low  = Signal(32)
        resp = Signal(2) # Of the first half.
        self.comb += [
            # Write.
            bus.w.valid.eq(dma.w.valid),
            bus.w.data.eq(Mux(second_w, dma.w.data[32:], dma.w.data[:32])),
            bus.w.strb.eq(Mux(second_w, dma.w.strb[4:], dma.w.strb[:4])),
            bus.w.last.eq(second_w & dma.w.last),
            dma.w.ready.eq(second_w & bus.w.ready),
            # Read.
            dma.r.valid.eq(second_r & bus.r.valid),
            dma.r.data.eq(Cat(low, bus.r.data)),
            # DECERR is 3, SLVERR 2: their OR is an error if one of them is.
            dma.r.resp.eq(resp | bus.r.resp),
            dma.r.last.eq(bus.r.last),
            dma.r.id.eq(bus.r.id),
            bus.r.ready.eq(~second_r | dma.r.ready),
        ]
        self.sync += [
            If(bus.w.valid & bus.w.ready, second_w.eq(~second_w)),
            If(bus.r.valid & bus.r.ready,
                second_r.eq(~second_r),
                If(~second_r, low.eq(bus.r.data), resp.eq(bus.r.resp)),
            ),
        ]
