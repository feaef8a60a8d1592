# SPDX-License-Identifier: BSD-2-Clause
TESTS = ["axi32-master"]

MUTANTS = [
    ("upper half first", "Mux(second_w, dma.w.data[32:], dma.w.data[:32])",
     "Mux(second_w, dma.w.data[:32], dma.w.data[32:])",
     "words are written with their halves exchanged"),
    ("one beat too few", "Cat(C(1, 1), source.len)", "Cat(C(0, 1), source.len)",
     "the last half of each burst is missing"),
    ("ends with the first half", "second_w & dma.w.last", "dma.w.last",
     "a burst ends before its last beat"),
    ("the first half's error is lost", "resp | bus.r.resp", "bus.r.resp",
     "a word whose lower half was refused is good"),
    ("the second half's error is lost", "dma.r.resp.eq(resp | bus.r.resp)",
     "dma.r.resp.eq(resp)",
     "a word whose upper half was refused is good"),
    ("a write's refusal is lost", "dma.b.resp.eq(bus.b.resp)", "dma.b.resp.eq(0)",
     "frames that memory refused are good"),
    ("halves do not wait", "If(bus.w.valid & bus.w.ready, second_w", "If(bus.w.valid, second_w",
     "a slow bus loses halves"),
]
