# SPDX-License-Identifier: BSD-2-Clause
TESTS = ["test_register_file", "sim-all", "test_mac_gated", "formal:register_file"]

MUTANTS = [
    ("every access is done twice",
     "self.bus.stb & ~self.bus.ack & ~self.bus.err)", "self.bus.stb & ~self.bus.err)",
     "a re-arm or a doorbell comes again a clock later"),
    ("a refused access is refused twice",
     "self.bus.stb & ~self.bus.ack & ~self.bus.err)", "self.bus.stb & ~self.bus.ack)",
     "the access behind it gets its answer"),
    ("bytes are written as words",
     "write.eq(self.bus.we & (self.bus.sel == 0b1111))", "write.eq(self.bus.we)",
     "a write of one byte changes four"),
    ("partial writes are acknowledged",
     "self.bus.ack.eq(~partial)", "self.bus.ack.eq(1)",
     "software never hears that nothing was done"),
    ("stb alone is an access",
     "request.eq(self.bus.cyc & self.bus.stb", "request.eq(self.bus.stb",
     "accesses to others are done here, too"),
    ("a counter too soon",
     "If(request & ~self.counting,", "If(request,",
     "a read gets the count of the read before"),
    ("sleeps before its answer is taken",
     "self.bus.stb | self.bus.ack | self.bus.err)", "self.bus.stb)",
     "behind a clock gate the acknowledgement stays",
     "a Wishbone master still asks while it is answered"),
]
