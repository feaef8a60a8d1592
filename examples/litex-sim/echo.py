#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The MAC in LiteX's own simulator, with the stock VexRiscv and a program that echoes frames.

    python echo.py FOLDER       # builds and simulates there; prints the octets of each sent frame

At the MAC's GMII, a player sends a few frames to the MAC, and prints the frames that the MAC sends. The
example needs no network device and no rights to create one.
"""

import subprocess
import sys
import zlib
from pathlib import Path

from liteeth.phy.gmii import LiteEthPHYGMII
from litex.build.generic_platform import Pins
from litex.build.sim import SimPlatform
from litex.build.sim.config import SimConfig
from litex.gen import LiteXModule
from litex.soc.integration.builder import Builder
from litex.soc.integration.common import get_mem_data
from litex.soc.integration.soc_core import SoCCore
from migen import Display, Finish, If, Memory, Record, Signal
from migen.genlib.io import CRG

import moderato
from moderato import add_moderato

HERE = Path(__file__).resolve().parent
STATION = bytes.fromhex("024d6f640000")
PEER = bytes.fromhex("025473740000")
FRAMES = [
    STATION + PEER + b"\x88\xb5" + bytes((7 * n + length) & 255 for n in range(length - 14))
    for length in (60, 61, 200, 1514, 64, 63, 99, 100, 101, 102, 103)
]
GAP = 6000  # clocks between frames: the program copies octet by octet
START = 2000  # clocks from enabling the MAC to the first frame
END = 60_000  # clocks after the last one


def wire(frame):
    """Preamble, frame, FCS."""
    return bytes([0x55] * 7 + [0xD5]) + frame + zlib.crc32(frame).to_bytes(4, "little")


class Player(LiteXModule):
    """Plays FRAMES into GMII pads when the program `listens`, prints sent frames, and ends the
    simulation."""

    def __init__(self, pads):
        self.listens = Signal()

        # # #

        words = [0] * START
        for frame in FRAMES:
            words += [0x100 | octet for octet in wire(frame)] + [0] * GAP
        memory = Memory(9, len(words), init=words)
        port = memory.get_port()
        self.specials += memory, port
        clock, was_sent = Signal(32), Signal()
        self.comb += [
            port.adr.eq(clock),
            pads.rx_dv.eq(port.dat_r[8] & (clock < len(words))),
            pads.rx_data.eq(port.dat_r[:8]),
        ]
        self.sync += [
            If(self.listens, clock.eq(clock + 1)),
            was_sent.eq(pads.tx_en),
            If(pads.tx_en, Display("sent %x", pads.tx_data)),
            If(was_sent & ~pads.tx_en, Display("sent end")),
            If(clock == len(words) + END, Finish()),
        ]


class EchoSoC(SoCCore):
    def __init__(self, **kwargs):
        platform = SimPlatform("SIM", [("sys_clk", 0, Pins(1))])
        self.crg = CRG(platform.request("sys_clk"))
        SoCCore.__init__(
            self,
            platform,
            int(100e6),
            cpu_type="vexriscv",
            uart_name="stub",
            integrated_rom_size=0x2000,
            integrated_main_ram_size=0x10000,
            **kwargs,
        )
        pads = Record(
            [("rx_dv", 1), ("rx_er", 1), ("rx_data", 8), ("tx_en", 1), ("tx_er", 1), ("tx_data", 8)]
        )
        self.player = Player(pads)
        self.ethphy = LiteEthPHYGMII(None, pads, model=True)
        mac = add_moderato(self, phy=self.ethphy, name="eth0")
        self.comb += self.player.listens.eq(mac.receive.enable)


def program(soc, folder):
    """The echo program for this SoC's addresses."""
    package = Path(moderato.__path__[0])
    driver, header = (source("integrate/baremetal", package), source("linux-driver", package))
    regions = soc.bus.regions
    binary = folder / "echo.bin"
    subprocess.run(
        [
            "riscv64-unknown-elf-gcc",
            "-march=rv32im",
            "-mabi=ilp32",
            "-O2",
            "-Wall",
            "-Werror",
            "-ffreestanding",
            "-nostdlib",
            "-fno-builtin",
            f"-DETH0_BASE={regions['eth0'].origin:#x}",
            f"-I{driver}",
            f"-I{header}",
            f"-Wl,--defsym=ROM_BASE={regions['rom'].origin:#x}",
            f"-Wl,--defsym=RAM_BASE={regions['main_ram'].origin:#x}",
            "-T",
            HERE / "echo.ld",
            HERE / "start.S",
            HERE / "echo.c",
            driver / "moderato.c",
            "-o",
            folder / "echo.elf",
        ],
        check=True,
    )
    subprocess.run(
        ["riscv64-unknown-elf-objcopy", "-O", "binary", "-j", ".text", folder / "echo.elf", binary],
        check=True,
    )
    return binary


def source(name, package):
    """A folder of a package, in a wheel or in a clone."""
    installed = package / name.replace("-", "_")
    return installed if installed.is_dir() else package.parents[1] / name


def main(folder):
    folder = Path(folder).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    soc = EchoSoC()
    soc.init_rom("rom", get_mem_data(str(program(soc, folder)), endianness="little"))
    config = SimConfig()
    config.add_clocker("sys_clk", freq_hz=int(100e6))
    builder = Builder(soc, output_dir=str(folder), compile_software=False)
    builder.build(sim_config=config, run=True, interactive=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
