# SPDX-License-Identifier: BSD-2-Clause
"""A board's DRAM, simulated: LiteDRAM's controller as on the board, and a model of PHY and chips."""

from litedram.phy.dfi import Interface
from litex.gen import LiteXModule
from migen import READ_FIRST, Array, Cat, If, Memory, Signal, log2_int

from moderato.boards.ecp5 import DDR3Board
from moderato.boards.gateware import board_class
from moderato.soc.memory import WordDelay

BURST = 8  # columns of a command


def of_board(name: str, sys_clk_hz: int) -> tuple:
    """The chips of one of boards.BOARDS (a class of litedram.modules), and the settings of its PHY at
    this clock (LiteDRAM's PhySettings). Raises ValueError if it has no DDR3."""
    kind = board_class(name)
    if not issubclass(kind, DDR3Board):
        raise ValueError(f"{kind.title} has no DDR3, which alone is simulated here")
    settings = kind.make_dram_phy(kind.make_platform(), sys_clk_hz).settings
    settings.phytype, settings.read_leveling = "SDRAMPHYModel", False  # the model needs no training
    return kind.make_dram_module(sys_clk_hz), settings


class DRAMModel(LiteXModule):
    """PHY and DDR3 chips for a controller that keeps the times of `module` (of litedram.modules).

    The model has only the latencies of `settings` (LiteDRAM's PhySettings): a read's data comes
    `read_latency` cycles after its command, a write's data is taken `write_latency` cycles after. The
    words of DFI are in `main_ram`, a Verilog array of `size` bytes in the order of addresses
    (ROW_BANK_COL), which a simulator can fill. Like LiteDRAM's own model, which has an array for each
    bank, it needs no initialisation.
    """

    def __init__(self, module, settings, size: int):
        geometry = module.geom_settings
        bits = settings.nphases * settings.dfi_databits
        words = size // (bits // 8)
        self.settings = settings
        self.dfi = dfi = Interface(
            geometry.addressbits,
            geometry.bankbits,
            settings.nranks,
            settings.dfi_databits,
            settings.nphases,
        )

        # # #

        # Commands: at most one of each kind in a cycle.
        rows = Array(Signal(geometry.rowbits) for _ in range(2**geometry.bankbits))
        column = log2_int(BURST)
        reads, writes = Signal(), Signal()
        adr_r, adr_w = Signal(max=words), Signal(max=words)
        for phase in dfi.phases:
            selected = ~phase.cs_n
            access = selected & phase.ras_n & ~phase.cas_n
            place = Cat(phase.address[column : geometry.colbits], phase.bank, rows[phase.bank])
            self.sync += If(
                selected & ~phase.ras_n & phase.cas_n & phase.we_n, rows[phase.bank].eq(phase.address)
            )
            self.comb += [
                If(access & phase.we_n, reads.eq(1), adr_r.eq(place)),
                If(access & ~phase.we_n, writes.eq(1), adr_w.eq(place)),
            ]

        # Array.
        self.main_ram = Memory(bits, words, name="main_ram")
        read = self.main_ram.get_port(mode=READ_FIRST)
        write = self.main_ram.get_port(write_capable=True, we_granularity=8, mode=READ_FIRST)
        self.specials += self.main_ram, read, write
        for _ in range(settings.write_latency):
            later, place = Signal(), Signal.like(adr_w)
            self.sync += later.eq(writes), place.eq(adr_w)
            writes, adr_w = later, place
        self.comb += [
            read.adr.eq(adr_r),
            write.adr.eq(adr_w),
            write.dat_w.eq(Cat(phase.wrdata for phase in dfi.phases)),
            If(writes, write.we.eq(~Cat(phase.wrdata_mask for phase in dfi.phases))),
        ]

        # Answers.
        self.delay = delay = WordDelay(bits, settings.read_latency - 1)
        valid = Signal(settings.read_latency)
        self.sync += valid.eq(Cat(reads, valid))
        self.comb += [
            delay.sink.eq(read.dat_r),
            Cat(phase.rddata for phase in dfi.phases).eq(delay.source),
            *(phase.rddata_valid.eq(valid[-1]) for phase in dfi.phases),
        ]
