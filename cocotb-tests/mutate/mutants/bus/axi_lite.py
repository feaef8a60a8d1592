# SPDX-License-Identifier: BSD-2-Clause
TESTS = ["test_axi_lite"]

MUTANTS = [
    ("a refusal is no answer", "answered.eq(registers.ack | registers.err)",
     "answered.eq(registers.ack)",
     "the bus waits for ever"),
    ("refused is done", "Mux(registers.err, axi.RESP_SLVERR, axi.RESP_OKAY)", "axi.RESP_OKAY",
     "software never hears that nothing was done"),
    ("all bytes", "registers.sel.eq(bus.w.strb)", "registers.sel.eq(0b1111)",
     "a write of one byte changes four"),
    ("an address without data", "bus.aw.valid & bus.w.valid", "bus.aw.valid",
     "what is written is not there yet"),
    ("answers do not wait", "If(bus.r.ready, NextState(\"IDLE\"))", "NextState(\"IDLE\")",
     "an answer that nobody took is gone"),
    ("the address of the other way", "registers.adr.eq(bus.ar.addr[word:])",
     "registers.adr.eq(bus.aw.addr[word:])",
     "a read gives another register"),
]
