# SPDX-License-Identifier: BSD-2-Clause
"""Ownership of descriptors: only those that the doorbell handed over are read, each once, in order."""

from migen import *

from moderato.gateware.rings.descriptor import (BEATS_PER_DESCRIPTOR, DescriptorFetcher,
                                                is_in_first_beat)
from moderato.gateware.options import MACOptions
from moderato.gateware.frame.records import rx_descriptor, tx_descriptor
from moderato.gateware.registers.table import INDEX_BITS, MAX_RING_ORDER, MIN_RING_ORDER

from formal.environment import all_of
from formal.prover      import internal


class DescriptorProof(Module):
    """The fetcher between a driver that follows the rules and a bus with any delays.

    second: it also delivers the fields of a descriptor's second beat.
    device: as for ModerationProof.
    """

    def __init__(self, second=False, device=None):
        dut = device
        if device:
            layout = device.source.description.payload_layout
            second = not all(is_in_first_beat(name) for name, _ in layout)
        else:
            self.submodules.dut = dut = DescriptorFetcher(
                tx_descriptor(MACOptions(tx_checksum=True, vlan=True)) if second else rx_descriptor())
        request, source = dut.port.request, dut.source
        busy = internal(dut, "busy")

        # The driver.
        # -----------
        order_before  = Signal(4)
        enable_before = Signal()
        base_before   = Signal(32)
        idle_before   = Signal(reset=1)
        ring          = Signal(INDEX_BITS)
        rung          = Signal(INDEX_BITS)  # the doorbell's latest index,
        taken         = Signal(INDEX_BITS)  # and descriptors that the ring took off `source`
        grown, held   = Signal(INDEX_BITS), Signal(INDEX_BITS)
        self.sync += [
            order_before.eq(dut.order),
            base_before.eq(dut.base),
            enable_before.eq(dut.enable),
            idle_before.eq(dut.idle),
        ]
        self.comb += [
            ring.eq(1 << dut.order),
            grown.eq(dut.doorbell_index - taken),
            held.eq(rung - taken),
        ]
        driver = {
            "ring_is_valid":
                (dut.order >= MIN_RING_ORDER) & (dut.order <= MAX_RING_ORDER) & (dut.base[:6] == 0),
            "ring_changes_only_when_idle": ~(enable_before | ~idle_before) |
                ((dut.order == order_before) & (dut.base == base_before)),
            "enabled_only_when_idle": ~dut.enable | enable_before | idle_before,
            "doorbell_hands_over_free_descriptors": ~dut.doorbell |
                (dut.enable & enable_before & (grown <= ring) & (grown >= held)),
        }

        # The bus: answers the beats of one burst after it took the request.
        # ------------------------------------------------------------------
        beats_left = Signal(4)
        accepted   = Signal()
        self.comb += accepted.eq(request.valid & request.ready)
        self.sync += [
            If(dut.port.valid, beats_left.eq(beats_left - 1)),
            If(accepted, beats_left.eq(request.last_beat + 1)),
        ]
        bus = {
            "bus_answers_requests": ~dut.port.valid | (beats_left != 0),
            "bus_ends_bursts": ~dut.port.valid | (dut.port.last == (beats_left == 1)),
        }
        self.rules = driver | bus
        self.assume = Signal(name_override="assume_all")
        self.comb += self.assume.eq(all_of(*self.rules.values()))

        # Bookkeeping of the proof.
        # -------------------------
        fetched  = Signal(INDEX_BITS)  # next index to be read
        count    = Signal(4)
        offered  = Signal()            # a request waits
        payload  = Signal(len(request.address) + len(request.last_beat))
        restart  = Signal()
        broken   = Signal()            # the bus failed a beat since the ring was enabled
        expected = Signal(29)
        left     = Signal(INDEX_BITS)
        self.comb += [
            restart.eq(~dut.enable & dut.idle),
            count.eq((request.last_beat + 1) >> log2_int(BEATS_PER_DESCRIPTOR)),
            expected.eq(dut.base[3:] + ((fetched & (ring - 1)) << log2_int(BEATS_PER_DESCRIPTOR))),
            left.eq(rung - fetched),
        ]
        self.sync += [
            If(dut.doorbell, rung.eq(dut.doorbell_index)),
            If(accepted, fetched.eq(fetched + count)),
            If(source.valid & source.ready, taken.eq(taken + 1)),
            If(dut.port.valid & dut.port.error, broken.eq(1)),
            If(restart, rung.eq(0), fetched.eq(0), broken.eq(0)),
            If(~dut.enable, taken.eq(0)),
            offered.eq(request.valid & ~request.ready),
            payload.eq(Cat(request.address, request.last_beat)),
        ]

        # In progress: the descriptors of the current burst whose first, or last, beat has not been
        # answered.
        coming = Signal(INDEX_BITS)
        waits  = Signal(INDEX_BITS)
        self.comb += [
            coming.eq(((beats_left + second) >> 1) + Mux(request.valid, count, 0)),
            waits.eq(dut.fifo.level),
        ]
        total = Signal(INDEX_BITS)
        self.comb += total.eq(taken + waits + coming)
        failed_before = Signal()
        self.sync += If(broken & restart, failed_before.eq(1))
        next_fetch = internal(dut, "fetched")
        enabled    = dut.enable & enable_before

        self.promises = {
            "request_stands_until_taken": ~offered |
                (request.valid & (payload == Cat(request.address, request.last_beat))),
            "request_stays_in_its_line": ~request.valid |
                (Cat(request.address[:3], C(0, 1)) + request.last_beat <= 7),
            "reads_in_order": ~request.valid | (request.address == expected),
            "reads_whole_descriptors": ~request.valid | request.last_beat[0],
            "reads_nothing_beyond_the_doorbell": ~request.valid | ~enable_before | (count <= left),
            "delivers_nothing_beyond_the_doorbell": ~(source.valid & enable_before) |
                (taken != rung),
            "delivers_each_once": ~enabled | broken | (total == next_fetch),
            "starved_means_all_delivered": ~(dut.starved & enabled) | broken | (taken == rung),
            "tells_that_it_failed": dut.failed == broken,
            "delivers_nothing_after_an_error": ~(broken | dut.port.error) | ~dut.fifo.sink.valid,
            "asks_for_nothing_after_an_error": ~(broken & request.valid),
            "never_overflows": ~dut.fifo.sink.valid | dut.fifo.sink.ready,
            "one_burst_at_a_time": ~request.valid | (beats_left == 0),
        }
        if device:
            return
        # Lemmas for the induction.
        # -------------------------
        ahead   = Signal(INDEX_BITS)
        undelivered = Signal(INDEX_BITS)
        waiting = Mux(request.valid, count, 0)
        room    = Signal(5)
        self.comb += [
            ahead.eq(rung - next_fetch),
            undelivered.eq(next_fetch - taken),
            room.eq(dut.fifo.level + coming),
        ]
        self.promises |= {
            "lemma_ring": ~enabled | ((held <= ring) & (ahead <= held) & (waits <= undelivered)),
            "lemma_rung": internal(dut, "producer") == rung,
            "lemma_fetched": ~enabled | (next_fetch - fetched == waiting),
            "lemma_restart": enable_before | ~idle_before | ~(busy | dut.failed | broken |
                (Cat(rung, next_fetch, fetched, taken, dut.fifo.level) != 0)),
            "lemma_busy": busy == (request.valid | (beats_left != 0)),
            "lemma_beats": (beats_left <= 8) & (internal(dut, "even") == ~beats_left[0]),
            "lemma_room": ~busy | (room <= 8),
            "lemma_level": dut.fifo.level <= 8,
        }
        if second:
            first = Signal(64)
            beat  = dut.port.data
            sink  = dut.fifo.sink
            self.sync += If(dut.port.valid & ~beats_left[0], first.eq(dut.port.data))
            self.promises |= {
                "delivers_what_it_read": ~sink.valid | (
                    (Cat(sink.address, sink.length, sink.request, sink.silent) == first[:50]) &
                    (Cat(sink.start, sink.place, sink.insert) ==
                        Cat(beat[1:14], beat[17:30], beat[31])) &
                    (Cat(sink.tag, sink.tagged) == Cat(beat[32:48], beat[62]))),
                "lemma_kept": first[:50] ==
                    Cat(*[internal(dut, f"kept_{name}") for name, _ in rx_descriptor()]),
            }
        self.reachable = {
            "short_burst": accepted & (count == 3),
            "ring_wrapped": accepted & (fetched == 4) & (dut.order == 2),
            "fifo_full": (dut.fifo.level == 8),
            "starved_after_work": dut.starved & (taken == 5),
            "failed_in_the_middle": broken & dut.port.valid & ~dut.port.error & dut.enable,
            "started_again": (beats_left == 3) & failed_before,
        }
        self.inputs = {dut.enable, dut.base, dut.order, dut.doorbell, dut.doorbell_index,
                       request.ready, source.ready, dut.port.valid, dut.port.last, dut.port.data,
                       dut.port.error}
