# SPDX-License-Identifier: BSD-2-Clause
"""The MAC as one Verilog file, for designs without LiteX.

    moderato verilog --phy gmii --sys-clk-freq 100e6 --output build

The command writes build/moderato.v, whose ports docs/integrate.md explains. It also writes the
registers: moderato_regs.h for C, moderato_regs.vh for Verilog.
"""

from pathlib import Path

from liteeth.phy.gmii import LiteEthPHYGMIIRX, LiteEthPHYGMIITX
from liteeth.phy.mii import LiteEthPHYMIIRX, LiteEthPHYMIITX
from litex.gen import LiteXModule
from litex.gen.fhdl import verilog
from litex.gen.fhdl.verilog import _ieee_1800_2017_verilog_reserved_keywords as KEYWORDS
from migen import ClockDomain, ClockDomainsRenamer, Record
from migen.genlib.cdc import MultiReg

from moderato.gateware import export
from moderato.gateware.bus.axi_lite import AXILiteSlave
from moderato.gateware.bus.axi_master import AXIMaster
from moderato.gateware.bus.wishbone_master import WishboneMaster
from moderato.gateware.mac import ModeratoMAC
from moderato.soc.verilog import normalise

# For each PHY interface: LiteEth's stages, data width in each direction, Hz of its clocks.
PHYS = {
    "gmii": (LiteEthPHYGMIIRX, LiteEthPHYGMIITX, 8, 125e6),
    "mii": (LiteEthPHYMIIRX, LiteEthPHYMIITX, 4, 25e6),
}
DMAS = {
    f"{kind}{width}": (master, width)
    for kind, master in (("axi", AXIMaster), ("wishbone", WishboneMaster))
    for width in (64, 32)
}
BUSES = ("axi-lite", "wishbone")

# A Wishbone master's outputs, and the fields of AXI's channels.
WISHBONE_OUT = "adr dat_w sel cyc stb we cti".split()
AXI = {
    "aw": "addr burst len size cache prot",
    "w": "data strb last",
    "b": "resp",
    "ar": "addr burst len size cache prot",
    "r": "data resp last",
}
AXI_LITE = {"aw": "addr", "w": "data strb", "b": "resp", "ar": "addr", "r": "data resp"}


class PHY(LiteXModule):
    """LiteEth's stages between pads and MAC; their clocks are ports of the design."""

    dw = 8

    def __init__(self, kind, pads):
        rx, tx, _width, self.rx_clk_freq = PHYS[kind]
        self.tx_clk_freq = self.rx_clk_freq
        self.rx = ClockDomainsRenamer("eth_rx")(rx(pads))
        self.tx = ClockDomainsRenamer("eth_tx")(tx(pads))
        self.sink, self.source = self.tx.sink, self.rx.source


class Standalone(LiteXModule):
    """The MAC as a top module; `ports` has its ports.

    phy, dma, bus   one of PHYS, DMAS and BUSES.
    sys_clk_freq    Hz of `clk`.
    options         of MACOptions.
    """

    def __init__(self, phy, dma, bus, sys_clk_freq, **options):
        if options.get("flows"):
            raise ValueError(
                "two MACs of one design forward flows, but this design has one MAC; leave flows out."
            )
        self.ports = set()

        # # #

        # Clocks; users hold `rst` for some cycles of each.
        self.cd_sys = ClockDomain("sys")
        self.cd_eth_rx = ClockDomain("eth_rx")
        self.cd_eth_tx = ClockDomain("eth_tx")
        self._name("", clk=self.cd_sys.clk, rst=self.cd_sys.rst)
        for side, domain in ("rx", self.cd_eth_rx), ("tx", self.cd_eth_tx):
            self._name(f"{phy}_{side}_", clk=domain.clk)
            self.specials += MultiReg(self.cd_sys.rst, domain.rst, domain.name)

        # PHY.
        width = PHYS[phy][2]
        pads = Record([("rx_dv", 1), ("rx_data", width), ("tx_en", 1), ("tx_er", 1), ("tx_data", width)])
        self._name(f"{phy}_", **{name: getattr(pads, name) for name, _ in pads.layout})
        self.phy = PHY(phy, pads)

        self.mac = mac = ModeratoMAC(self.phy, sys_clk_freq, **options)
        self._name("", **{f"irq_{line}": irq for line, irq in mac.irqs.items()})
        if options.get("timestamp"):
            self._name("", time_output=mac.time_output)

        # Registers.
        if bus == "axi-lite":
            self.slave = AXILiteSlave(mac.bus)
            self._name_axi("s_axi_", self.slave.bus, AXI_LITE)
        else:
            self._name(
                "s_wb_",
                **{
                    name: getattr(mac.bus, name)
                    for name in "adr dat_w dat_r sel cyc stb we ack err".split()
                },
            )

        # DMA.
        master, width = DMAS[dma]
        self.master = master(mac.dma, data_width=width)
        if master is AXIMaster:
            self._name_axi("m_axi_", self.master.bus, AXI)
        else:
            self._name(
                "m_wb_",
                **{
                    name: getattr(self.master.bus, name)
                    for name in (*WISHBONE_OUT, "dat_r", "ack", "err")
                },
            )

    def _name(self, prefix, **signals):
        for name, signal in signals.items():
            signal.name_override = f"{prefix}{name}"
            self.ports.add(signal)

    def _name_axi(self, prefix, bus, fields):
        for channel, names in fields.items():
            endpoint = getattr(bus, channel)
            self._name(
                f"{prefix}{channel}",
                **{name: getattr(endpoint, name) for name in ("valid", "ready", *names.split())},
            )


def write(output: Path, name: str, **choices) -> Path:
    """Write the files to `output`, and return the path of the Verilog. Raises ValueError for options
    that the MAC does not support."""
    if name in KEYWORDS:
        raise ValueError(f"{name} is a keyword of Verilog, and can't name a module")
    top = Standalone(**choices)
    output.mkdir(parents=True, exist_ok=True)
    file = output / f"{name}.v"
    verilog.convert(top, top.ports, name=name).write(str(file))
    normalise(file)
    (output / "moderato_regs.h").write_text(export.header())
    (output / "moderato_regs.vh").write_text(export.constants())
    return file
