# SPDX-License-Identifier: BSD-2-Clause
TESTS = ["test_axi_lite"]

MUTANTS = [
    ("register errors get no response", "answered.eq(registers.ack | registers.err)",
     "answered.eq(registers.ack)",
     "the bus hangs"),
    ("register errors become OKAY",
     "Mux(registers.err, axi.RESP_SLVERR, axi.RESP_OKAY)", "axi.RESP_OKAY",
     "software does not see that the access failed"),
    ("write strobes are ignored", "registers.sel.eq(bus.w.strb)", "registers.sel.eq(0b1111)",
     "a write of one byte changes four"),
    ("a write starts without its data", "bus.aw.valid & bus.w.valid", "bus.aw.valid",
     "an undefined word is written"),
    ("a response is not held until ready", "If(bus.r.ready, NextState(\"IDLE\"))", "NextState(\"IDLE\")",
     "the master misses a response"),
    ("reads use the write address", "registers.adr.eq(bus.ar.addr[word:])",
     "registers.adr.eq(bus.aw.addr[word:])",
     "a read returns another register"),
]
