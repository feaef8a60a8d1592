# SPDX-License-Identifier: BSD-2-Clause
TESTS = ["wishbone64-soc"]

MUTANTS = [
    ("a refusal is no answer", "(registers.ack | registers.err | (sel == 0))",
     "(registers.ack | (sel == 0))",
     "the bus waits for ever"),
    ("refused is done", "bus.ack.eq(answered & last & ~refused)", "bus.ack.eq(answered & last)",
     "software never hears that nothing was done"),
    ("only the last word's refusal", "refused.eq(before | registers.err)",
     "refused.eq(registers.err)",
     "nor that a part was not"),
    ("a refusal is told for ever", "If(~asked | (answered & last),\n                word.eq(0),\n"
     "                before.eq(0)", "If(~asked | (answered & last),\n                word.eq(0)",
     "what follows looks refused, too"),
    ("all words are asked for", "registers.stb.eq(asked & (sel != 0))", "registers.stb.eq(asked)",
     "its answer is taken for the next word's, which is never written"),
    ("words of no byte wait", "registers.err | (sel == 0))", "registers.err)",
     "the bus waits for a word that nobody asked for"),
    ("the first word twice", "registers.adr.eq(Cat(word[:log2_int(words)], bus.adr))",
     "registers.adr.eq(Cat(C(0, log2_int(words)), bus.adr))",
     "every second register is out of reach"),
    ("reads give the last word only", "Case(word, {n: kept.eq(registers.dat_r)",
     "Case(word, {n: kept.eq(0)",
     "a register reads as 0"),
    ("each word has the selection of the first",
     "sel.eq(bus.sel[4*n:4*n + 4])",
     "sel.eq(bus.sel[:4])",
     "registers are written that nobody meant"),
    ("each word has the data of the first",
     "registers.dat_w.eq(bus.dat_w[32*n:32*n + 32])",
     "registers.dat_w.eq(bus.dat_w[:32])",
     "every second register gets its neighbour's value"),
]
