# SPDX-License-Identifier: BSD-2-Clause
TESTS = ["wishbone32-master"]

MUTANTS = [
    ("a write's error is lost", "NextValue(failed, failed | bus.err)", "NextValue(failed, 0)",
     "frames that memory refused are good, unless the last word was"),
    ("the last write's error is lost", "b.sink.resp.eq(Mux(failed | bus.err,",
     "b.sink.resp.eq(Mux(failed,",
     "frames whose last word memory refused are good"),
    ("the lower half's error is lost", "(failed | bus.err) & ~last_part", "0",
     "a word whose lower half could not be read is good"),
    ("the upper half's error is lost", "r.sink.resp.eq(Mux(failed | bus.err,",
     "r.sink.resp.eq(Mux(failed,",
     "a word whose upper half could not be read is good"),
    ("an error is no answer", "answered.eq(bus.stb & (bus.ack | bus.err))",
     "answered.eq(bus.stb & bus.ack)",
     "the bus waits for ever"),
    ("halves exchanged", "Cat(low, bus.dat_r)", "Cat(bus.dat_r, low)",
     "words are read with their halves exchanged"),
    ("a burst never ends", "Mux(last_beat, wishbone.CTI_BURST_END, wishbone.CTI_BURST_INCREMENTING)",
     "wishbone.CTI_BURST_INCREMENTING",
     "the slave answers a word that nobody asked for"),
    ("no pause after an error", ".Elif(bus.err,", ".Elif(0,",
     "a slave that counts addresses by itself goes on from the refused one"),
    ("the address stands still", "NextValue(address, address + 1)", "NextValue(address, address)",
     "a burst is one word"),
    ("reads end without last", "r.sink.last.eq(last_beat)", "r.sink.last.eq(0)",
     "the MAC waits for the end of its burst"),
]
