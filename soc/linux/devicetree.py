# SPDX-License-Identifier: BSD-2-Clause
"""The device tree for a SoC's description (the content of soc.json), for simulation and boards."""

from dataclasses import dataclass
from pathlib import Path

from moderato.soc.linux.memory_map import MAILBOX_SIZE, SBI_SIZE, memory_map
from moderato.toolchain import debian
from moderato.toolchain.cache import artifact, run

BOOTARGS = "console=liteuart quiet"

# Fixed in simulation, so that all boots are equal to the cycle. A simulated system has no secrets.
RNG_SEED = bytes(range(64))


@dataclass(frozen=True)
class Options:
    """Parameters of a boot; the SoC's description has all others.

    initrd_size: bytes; 0 means no initrd.
    link_mbps: speed of the fixed links of simulated PHYs.
    phys: on a board, for each MAC, the properties of its PHY (phy-mode, phy-handle).
    rng_seed: seed of Linux' random numbers; none on a board, which may have secrets.
    """

    bootargs: str = BOOTARGS
    initrd_size: int = 0
    link_mbps: int = 100
    phys: tuple[str, ...] = ()
    rng_seed: bytes = RNG_SEED


def dts(soc: dict, options: Options = Options()) -> str:
    """Device tree source. Raises ValueError if Linux cannot boot on this SoC."""
    where = memory_map(soc)
    if not soc["cpu"]["itlb"]:
        raise ValueError("Linux needs an MMU, but the CPU has no TLBs; give both TLBs some entries")
    memory, clock = soc["memory"], soc["sys_clk_hz"]
    harts = range(soc["cpu"]["harts"])
    timers = ", ".join(f"<&intc{hart} 3>, <&intc{hart} 7>" for hart in harts)
    contexts = ", ".join(f"<&intc{hart} 11>, <&intc{hart} 9>" for hart in harts)
    initrd = ""
    if options.initrd_size:
        initrd = f"""
        linux,initrd-start = <{where.initrd:#x}>;
        linux,initrd-end = <{where.initrd + options.initrd_size:#x}>;"""
        if where.initrd + options.initrd_size > where.mailbox:
            raise ValueError(
                f"the initrd of {options.initrd_size} bytes does not fit between "
                f"{where.initrd:#x} and {where.mailbox:#x}; make it smaller"
            )
    seed = f"rng-seed = [{options.rng_seed.hex()}];\n        " if options.rng_seed else ""
    uart = soc["uart"]
    node = {"moderato": mac_node, "liteeth": _liteeth}[soc["nic"]]
    return f"""\
/dts-v1/;

/ {{
    #address-cells = <1>;
    #size-cells = <1>;
    model = "Moderato SoC";
    compatible = "moderato,soc", "litex,soc";

    chosen {{
        bootargs = "{options.bootargs}";
        stdout-path = "/soc/serial@{uart["base"]:x}";
        {seed}moderato,mailbox = <{where.mailbox:#x} {MAILBOX_SIZE:#x}>;{initrd}
    }};

    cpus {{
        #address-cells = <1>;
        #size-cells = <0>;
        timebase-frequency = <{soc.get("timebase_hz", clock)}>;
{"".join(_cpu(soc, hart) for hart in harts)}
    }};

    memory@{memory["base"]:x} {{
        device_type = "memory";
        reg = <{memory["base"]:#x} {memory["size"]:#x}>;
    }};

    reserved-memory {{
        #address-cells = <1>;
        #size-cells = <1>;
        ranges;

        sbi@{where.sbi:x} {{
            reg = <{where.sbi:#x} {SBI_SIZE:#x}>;
            no-map;
        }};

        mailbox@{where.mailbox:x} {{
            reg = <{where.mailbox:#x} {MAILBOX_SIZE:#x}>;
            no-map;
        }};
    }};

    soc {{
        #address-cells = <1>;
        #size-cells = <1>;
        compatible = "simple-bus";
        interrupt-parent = <&plic>;
        ranges;

        clint@{soc["clint"]["base"]:x} {{
            compatible = "sifive,clint0", "riscv,clint0";
            reg = <{soc["clint"]["base"]:#x} 0x10000>;
            interrupts-extended = {timers};
        }};

        plic: interrupt-controller@{soc["plic"]["base"]:x} {{
            compatible = "sifive,fu540-c000-plic", "sifive,plic-1.0.0";
            reg = <{soc["plic"]["base"]:#x} 0x400000>;
            #address-cells = <0>;
            #interrupt-cells = <1>;
            interrupt-controller;
            interrupts-extended = {contexts};
            riscv,ndev = <{soc["plic"]["sources"]}>;
        }};

        soc-controller@{soc["soc_controller"]["base"]:x} {{
            compatible = "litex,soc-controller";
            reg = <{soc["soc_controller"]["base"]:#x} 0xc>;
        }};

        serial@{uart["base"]:x} {{
            compatible = "litex,liteuart";
            reg = <{uart["base"]:#x} 0x100>;
            interrupts = <{uart["irq"]}>;
        }};
{"".join(node(mac, port, options) for port, mac in enumerate(soc["macs"]))}
    }};
}};
"""


def _cpu(soc: dict, hart: int) -> str:
    cpu = soc["cpu"]
    return f"""
        cpu@{hart:x} {{
            device_type = "cpu";
            compatible = "spinalhdl,vexriscv", "riscv";
            reg = <{hart}>;
            status = "okay";
            clock-frequency = <{soc["sys_clk_hz"]}>;
            mmu-type = "riscv,sv32";
            riscv,isa = "{cpu["isa"]}";
            riscv,isa-base = "rv32i";
            riscv,isa-extensions = "i", "m", "a", "zicsr", "zifencei", "zicntr";
            i-cache-size = <{cpu["icache"]}>;
            i-cache-block-size = <{cpu["line"]}>;
            i-cache-sets = <{cpu["icache"] // cpu["line"] // cpu["icache_ways"]}>;
            d-cache-size = <{cpu["dcache"]}>;
            d-cache-block-size = <{cpu["line"]}>;
            d-cache-sets = <{cpu["dcache"] // cpu["line"] // cpu["dcache_ways"]}>;
            i-tlb-sets = <1>;
            i-tlb-size = <{cpu["itlb"]}>;
            d-tlb-sets = <1>;
            d-tlb-size = <{cpu["dtlb"]}>;

            intc{hart}: interrupt-controller {{
                compatible = "riscv,cpu-intc";
                #address-cells = <0>;
                #interrupt-cells = <1>;
                interrupt-controller;
            }};
        }};
"""


def mac_node(mac: dict, port: int, options: Options) -> str:
    """Our MAC, one of `macs` of the SoC's description."""
    if options.phys:
        phy = options.phys[port]
    else:
        phy = f"""phy-mode = "internal";

            fixed-link {{
                speed = <{options.link_mbps}>;
                full-duplex;
            }};"""
    bus = _mdio(mac["mdio"], port) if "mdio" in mac else ""
    lines = [line for line in ("rx", "tx", "rx1", "tx1") if f"{line}_irq" in mac]
    label, peer = "", ""
    if "peer" in mac:
        label, peer = (
            f"mac{port}: ",
            f"""
            moderato,peer = <&mac{mac["peer"]}>;""",
        )
    return f"""
        {label}ethernet@{mac["base"]:x} {{
            compatible = "moderato,mac-1.0";
            reg = <{mac["base"]:#x} {mac["size"]:#x}>;
            interrupts = {", ".join(f"<{mac[f'{line}_irq']}>" for line in lines)};
            interrupt-names = {", ".join(f'"{line}"' for line in lines)};
            local-mac-address = [02 4d 6f 64 00 {port:02x}];{peer}
            {phy}
        }};
{bus}"""


def _mdio(base: int, port: int) -> str:
    """The MDIO bus of one PHY chip. The board's wiring sets the chip's address, so the kernel scans the
    bus."""
    return f"""
        mdio@{base:x} {{
            compatible = "litex,liteeth-mdio";
            reg = <{base:#x} 0x8>;

            phy{port}: ethernet-phy {{
            }};
        }};
"""


def _liteeth(mac: dict, port: int, options: Options) -> str:
    """LiteEth's MAC. The kernel's binding has no fixed link, because its driver accepts any rate."""
    phy = f"\n            {options.phys[port]}" if options.phys else ""
    buffer = mac["buffer"]
    return f"""
        ethernet@{mac["base"]:x} {{
            compatible = "litex,liteeth";
            reg = <{mac["base"]:#x} 0x100>, <{mac["mdio"]:#x} 0x100>,
                  <{buffer["base"]:#x} {buffer["size"]:#x}>;
            reg-names = "mac", "mdio", "buffer";
            litex,rx-slots = <{mac["rx_slots"]}>;
            litex,tx-slots = <{mac["tx_slots"]}>;
            litex,slot-size = <{mac["slot_size"]:#x}>;
            interrupts = <{mac["irq"]}>;
            local-mac-address = [02 4d 6f 64 00 {port:02x}];{phy}
        }};
"""


def dtb(soc: dict, options: Options = Options()) -> Path:
    """The compiled device tree."""
    text = dts(soc, options)

    name = "moderato.dtb"

    def build(directory: Path):
        source = directory / "moderato.dts"
        source.write_text(text)
        run(["dtc", "-I", "dts", "-O", "dtb", "-o", directory / name, source])

    return artifact("devicetree", [text, debian.version("device-tree-compiler")], build) / name
