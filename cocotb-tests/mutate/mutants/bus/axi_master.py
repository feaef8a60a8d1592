# SPDX-License-Identifier: BSD-2-Clause
TESTS = ["axi32-master"]

MUTANTS = [
    ("write halves are swapped", "Mux(second_w, dma.w.data[32:], dma.w.data[:32])",
     "Mux(second_w, dma.w.data[:32], dma.w.data[32:])",
     "words are written with their halves swapped"),
    ("32-bit bursts are one beat short", "Cat(C(1, 1), source.len)", "Cat(C(0, 1), source.len)",
     "the last half of each burst is missing"),
    ("WLAST comes with the first half", "second_w & dma.w.last", "dma.w.last",
     "a burst ends before its last beat"),
    ("a read error of the lower half is lost", "resp | bus.r.resp", "bus.r.resp",
     "a word whose lower half failed counts as good"),
    ("a read error of the upper half is lost", "dma.r.resp.eq(resp | bus.r.resp)",
     "dma.r.resp.eq(resp)",
     "a word whose upper half failed counts as good"),
    ("a write error is lost", "dma.b.resp.eq(bus.b.resp)", "dma.b.resp.eq(0)",
     "frames that memory did not store count as good"),
    ("the half toggles without ready",
     "If(bus.w.valid & bus.w.ready, second_w", "If(bus.w.valid, second_w",
     "a slow bus loses halves"),
]
