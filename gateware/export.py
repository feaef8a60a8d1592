# SPDX-License-Identifier: BSD-2-Clause
"""Makes the driver's header and pages of the documentation from the tables of registers and of options.

    ./moderato export           rewrites these files in this checkout
    ./moderato export --check   fails if one differs from its table
"""

from pathlib import Path

from moderato.gateware.options   import OPTIONS
from moderato.gateware.registers import table as r

ROOT = Path(__file__).resolve().parents[1]

ACCESS = {"ro": "read only", "rw": "read/write", "wo": "write only"}


# C header -----------------------------------------------------------------------------------------

def _define(name, value, comment=""):
    line = f"#define {name}"
    line += "\t" * max(1, (40 - len(line.expandtabs(8)) + 7) // 8) + value
    return line + (f"\t/* {comment} */" if comment else "")


def _field(prefix, f):
    value = f"BIT({f.lsb})" if f.width == 1 else f"GENMASK({f.lsb + f.width - 1}, {f.lsb})"
    return _define(f"{prefix}_{f.name}", value)


def header():
    """The text of moderato_regs.h: offsets, fields and limits as C macros."""
    out = [
        # REUSE-IgnoreStart
        "/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */",
        # REUSE-IgnoreEnd
        "/* Made from gateware/registers/table.py by moderato.gateware.export: do not edit. */",
        "#ifndef MODERATO_REGS_H",
        "#define MODERATO_REGS_H",
        "",
        "#include <linux/bits.h>",
        "",
        _define("MODERATO_ID_VALUE", f"0x{r.ID:08x}"),
        _define("MODERATO_VERSION_MAJOR_VALUE", str(r.MAJOR)),
        _define("MODERATO_VERSION_MINOR_VALUE", str(r.MINOR)),
        _define("MODERATO_MIN_RING_ORDER", str(r.MIN_RING_ORDER)),
        _define("MODERATO_MAX_RING_ORDER", str(r.MAX_RING_ORDER)),
        _define("MODERATO_TIMER_MAX", f"0x{(1 << r.TIMER_BITS) - 1:x}"),
        _define("MODERATO_FRAMES_MAX", f"0x{(1 << r.FRAMES_BITS) - 1:x}"),
        _define("MODERATO_RMON_RANGES", str(len(r.RMON_RANGES))),
        _define("MODERATO_RSS_KEY_WORDS", str(r.RSS_KEY_WORDS)),
        _define("MODERATO_RSS_TABLE_BITS", str(r.RSS_TABLE_BITS)),
        _define("MODERATO_FLOW_WAYS", str(r.FLOW_WAYS)),
        _define("MODERATO_FLOW_TICK", str(r.FLOW_TICK)),
        _define("MODERATO_TX_HEADER_BYTES", f"{r.HEADER_BYTES}U"),
        _define("MODERATO_TX_SLOPE_FRACTION_BITS", str(r.SLOPE_FRACTION_BITS)),
        _define("MODERATO_TX_SLOPE_MAX", f"{2**r.SLOPE_BITS - 1:#x}"),
        _define("MODERATO_TX_CREDIT_MAX", f"{2**r.CREDIT_BITS - 1:#x}"),
        _define("MODERATO_RX_OFFSET", str(r.RX_OFFSET)),
        _define("MODERATO_RX_BUFFER_ALIGN", str(r.RX_BUFFER_ALIGN)),
        _define("MODERATO_STAMP_OCTETS", str(r.STAMP_OCTETS)),
        _define("MODERATO_DESCRIPTOR_BYTES", str(r.DESCRIPTOR_BYTES)),
    ]

    def block(title, regs, prefix):
        out.extend(["", f"/* {title} */"])
        for reg in regs:
            out.append(_define(f"{prefix}{reg.name}", f"0x{reg.offset:03x}"))
            out.extend(_field(f"{prefix}{reg.name}", f) for f in reg.fields)

    block("Global registers", r.GLOBAL, "MODERATO_")
    out.extend(["", "/* Ring and moderation registers of one direction, relative to its base */",
        _define("MODERATO_RX_BASE", f"0x{r.RX_BASE:03x}"),
        _define("MODERATO_TX_BASE", f"0x{r.TX_BASE:03x}"),
        _define("MODERATO_RX1_BASE", f"0x{r.RX1_BASE:03x}"),
        _define("MODERATO_TX1_BASE", f"0x{r.TX1_BASE:03x}")])
    block("At each base", r.DIRECTION, "MODERATO_DIR_")
    block("Only for transmission", r.TX_ONLY, "MODERATO_")
    block("Only for reception", r.RX_ONLY, "MODERATO_")
    block("Statistics, each a 32-bit counter that wraps", r.STATISTICS, "MODERATO_STAT_")
    out.extend(["", "/* Descriptor words */"])
    for word in r.DESCRIPTOR:
        out.append(_define(f"MODERATO_DESC_{word.name}", f"0x{word.offset:x}"))
        out.extend(_field(f"MODERATO_DESC_{word.name}", f) for f in word.fields)
    out.extend(["", "#endif /* MODERATO_REGS_H */", ""])
    return "\n".join(out)


# Verilog ------------------------------------------------------------------------------------------

def constants():
    """The text of a file that Verilog can include: an offset or a mask for each name."""
    out = ["// Made from gateware/registers/table.py by moderato.gateware.export: do not edit."]

    def item(name, offset, fields):
        out.append(f"localparam MODERATO_{name} = 32'h{offset:08x};")
        out.extend(f"localparam MODERATO_{name}_{f.name} = 32'h{f.mask:08x};" for f in fields)

    for reg in r.registers():
        item(reg.name, reg.offset, reg.fields)
    for word in r.DESCRIPTOR:
        item(f"DESC_{word.name}", word.offset, word.fields)
    item("ID_VALUE", r.ID, ())
    item("RX_OFFSET", r.RX_OFFSET, ())
    return "\n".join([*out, ""])


# Documentation ------------------------------------------------------------------------------------

def docs():
    """The text of docs/registers.md."""
    out = [
        "# Registers and descriptors",
        "",
        "Made from `gateware/registers/table.py` by `moderato.gateware.export`: edit the table, not this page.",
        "",
        f"Version {r.MAJOR}.{r.MINOR}. All registers are 32 bits wide, little endian, and take 32-bit "
        "accesses: a write of fewer bytes changes nothing and returns a bus error. Unlisted offsets "
        "read 0 and ignore writes.",
        "",
        "| offset | register | access | reset | meaning |",
        "|---|---|---|---|---|",
    ]
    for reg in r.registers():
        reset = f"0x{reg.reset:x}" if reg.access == "rw" else ""
        out.append(f"| 0x{reg.offset:03x} | {reg.name} | {ACCESS[reg.access]} | {reset} | {reg.description} |")
        out.extend(f"| | &nbsp;&nbsp;{_bits(f)} {f.name} | | | {f.description} |" for f in reg.fields)
    out.extend(["", "## Descriptors", "",
        f"{r.DESCRIPTOR_BYTES} bytes each, in coherent memory, the ring aligned to 64 bytes. Indices run "
        f"freely modulo 2^{r.INDEX_BITS}; the slot is the index modulo the ring's size.", "",
        "| offset | word | bits | field | meaning |", "|---|---|---|---|---|"])
    for word in r.DESCRIPTOR:
        out.append(f"| 0x{word.offset:x} | {word.name} | | | {word.description} |")
        out.extend(f"| | | {_bits(f)} | {f.name} | {f.description} |" for f in word.fields)
    out.extend(["", "## Event pulses", "",
        "`events` of the MAC, one clock each, for a simulator or a logic analyser.", "",
        "| bit | event |", "|---|---|"])
    out.extend(f"| {bit} | {name} |" for bit, name in enumerate(r.EVENTS))
    out.append("")
    return "\n".join(out)


def _bits(f):
    return f"[{f.lsb}]" if f.width == 1 else f"[{f.lsb + f.width - 1}:{f.lsb}]"


def options():
    """The text of docs/options.md."""
    out = [
        "# Options of the MAC",
        "",
        "Made from `gateware/options.py` by `moderato.gateware.export`: edit the table, not this page.",
        "",
        "`ModeratoMAC`, `add_moderato` and the stand-alone generator take options by these names. All are off by default, and "
        "then cost nothing ([areas](fpga-mac.md#area-and-clocks)). The driver reads them from FEATURES and CAPABILITY "
        "([registers](registers.md)). [Offloads](offloads.md) describes each.",
        "",
        "| option | default | range | the MAC has | needs | reported in |",
        "|---|---|---|---|---|---|",
    ]
    for option in OPTIONS.values():
        default, limits = ("off", "") if option.is_switch else (option.default, f"{option.least} to {option.most}")
        out.append(f"| `{option.name}` | {default} | {limits} | {option.meaning} | "
            f"{', '.join(f'`{name}`' for name in option.needs)} | {', '.join(option.tells)} |")
    return "\n".join([*out, ""])


FILES = {
    ROOT / "linux-driver/moderato_regs.h": header,
    ROOT / "docs/registers.md":            docs,
    ROOT / "docs/options.md":              options,
}


def stale():
    """The files that differ from their table, by their names in this checkout."""
    return [str(path.relative_to(ROOT)) for path, make in FILES.items()
        if not path.exists() or path.read_text() != make()]


def write():
    """Writes those files."""
    for name in stale():
        (ROOT / name).write_text(FILES[ROOT / name]())
