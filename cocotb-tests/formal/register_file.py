# SPDX-License-Identifier: BSD-2-Clause
"""The register file as a Wishbone slave: one response and one effect for each access."""

from migen import *

from moderato.gateware.registers import table as registers
from moderato.gateware.registers.register_file import NARROW, RegisterFile

from formal.environment import all_of
from formal.prover      import internal

LONGEST = 2 # clocks from a request to its response, once the memory has the reset values
OPTIONS = ["urgent", "pacing"] # More registers add no new kind, and the proof would take minutes.


class RegisterFileProof(Module):
    """The slave with a master that holds an access until the response."""

    def __init__(self):
        self.submodules.dut = dut = RegisterFile(OPTIONS)
        bus   = dut.bus
        table = {register.name: register for register in registers.registers()
            if not register.option or register.option in OPTIONS}

        # The master. An access lasts from its first clock to its response; the next may follow at
        # once.
        # ----------------------------------------------------------------------------------------
        clearing = internal(dut, "clearing")
        age    = Signal(8) # Clocks since the reset.
        access = Cat(bus.adr, bus.dat_w, bus.we, bus.sel)
        asks   = Signal()
        answer = Signal()
        open   = Signal() # An access was in progress a clock ago, and not answered then,
        before = Signal(len(access))
        clocks = Signal(2) # for this many clocks.
        self.comb += [
            asks.eq(bus.cyc & bus.stb),
            answer.eq(bus.ack | bus.err),
        ]
        self.sync += [
            If(age != 2**len(age) - 1, age.eq(age + 1)),
            open.eq(asks & ~answer),
            before.eq(access),
            clocks.eq(Mux(asks & ~answer & ~clearing, clocks + 1, 0)),
        ]
        self.assume = Signal(name_override="assume_all")
        self.comb += self.assume.eq(all_of(~open | (asks & (before == access))))

        writes  = bus.we & (bus.sel == 0b1111)
        partial = bus.we & (bus.sel != 0b1111) & (bus.sel != 0)
        at      = lambda name: bus.adr[:10] == table[name].offset//4

        # The user's values a clock ago.
        # ------------------------------
        was   = {name: Signal(value.nbits, reset=value.reset.value) for name, value in dut.value.items()}
        count = Signal(32)
        counted  = Signal() # The access has asked for its counter,
        counting = Signal() # a clock ago,
        given    = Signal() # two clocks ago.
        looked   = Signal() # It needed the memory, a clock ago.
        self.sync += [
            [was[name].eq(value) for name, value in dut.value.items()],
            count.eq(dut.count),
            counting.eq(dut.counting),
            given.eq(counting),
            counted.eq((counted | dut.counting) & ~answer),
            looked.eq(internal(dut, "lookup")),
        ]
        counters   = registers.counters(OPTIONS)
        of_counter = Signal()
        number     = Signal(max=len(counters))
        for n, name in enumerate(counters):
            self.comb += If(at(name), of_counter.eq(1), number.eq(n))
        rw = [name for name, register in table.items() if register.access == "rw"]
        self.promises = {
            "never_both": ~(bus.ack & bus.err),
            "answers_what_is_asked": ~answer | open,
            "answers_in_time": ~open | answer | (clocks < LONGEST),
            "refuses_partial_writes": ~answer | (bus.err == partial),
            # A strobe for each write, in the clock of its response, and for no other reason.
            "one_effect": all_of(*[
                strobe == (bus.ack & writes & at(name)) for name, strobe in dut.strobe.items()]),
            "effect_has_its_data": ~(bus.ack & writes) | (dut.data == bus.dat_w),
            "written_values": all_of(*[
                dut.value[name] == Mux(dut.strobe[name], bus.dat_w[:table[name].width], was[name])
                for name in rw]),
            "reads_values": all_of(*[
                ~(bus.ack & ~bus.we & at(name)) | (bus.dat_r == value)
                for name, value in was.items()]),
            "reads_counters": ~(bus.ack & ~bus.we & of_counter) | (given & (bus.dat_r == count)),
            "asks_for_its_counter_once": ~dut.counting |
                (asks & ~answer & ~counted & of_counter & (dut.counter == number)),
            "sleeps_when_nothing_is_asked": dut.awake | ~(asks | answer),
        }
        # Lemmas for the induction: the memory's contents, except for the pending write.
        # ------------------------------------------------------------------------------
        storage, = [special for special in dut._fragment.specials if isinstance(special, Memory)]
        stored   = [name for name in rw if table[name].bits(OPTIONS) > NARROW]
        row, kept = internal(dut, "row"), internal(dut, "kept")
        of_stored, same = Signal(), Signal()
        rows = []
        for n, name in enumerate(stored):
            port  = storage.get_port(async_read=True)
            value = dut.value[name]
            self.specials += port
            self.comb += [
                port.adr.eq(n),
                If(at(name), of_stored.eq(1), same.eq(row == n)),
            ]
            rows.append(Mux(clearing & (row <= n), value == table[name].reset,
                Mux(kept & (row == n), dut.data[:len(value)], port.dat_r[:len(value)]) == value))
        self.promises |= {
            "has_the_reset_values_soon": clearing == (age < len(stored)),
            "lemma_age": ~clearing | (row == age),
            "lemma_asked": (internal(dut, "asked") == looked) & (~counting | (counted & looked)) &
                (~looked | (open & ~clearing & (counting == of_counter) & (of_counter | of_stored))),
            "lemma_clocks": (clocks <= LONGEST) &
                (~open | answer | Mux(clearing, clocks == 0, clocks <= 1)) &
                (clearing | ~open | answer | (clocks == 0) | looked) & (~clearing | (clocks == 0)) &
                (open | (clocks == 0)),
            "lemma_counted": ~counted | counting | answer,
            "lemma_stored": all_of(*rows) & (~clearing | (row < len(stored))),
            "lemma_row": (~looked | ~of_stored | same) & (~kept | (bus.ack & ~clearing)) &
                (~clearing | (~answer & (dut.data == 0))),
        }
        again = Signal()
        self.sync += again.eq(answer)
        self.reachable = {
            "back_to_back": bus.ack & (clocks == 1) & (dut.value["MAX_FRAME"] == 77),
            "counter": bus.ack & ~bus.we & of_counter & (bus.dat_r == 5),
            "refused": bus.err & at("RX_DOORBELL"),
            "no_byte": bus.ack & bus.we & (bus.sel == 0),
            "next_follows": again & asks,
        }
        self.inputs = {bus.cyc, bus.stb, bus.we, bus.sel, bus.adr, bus.dat_w, dut.count} | \
            {value for name, value in dut.value.items() if name not in rw}
