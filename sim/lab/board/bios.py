# SPDX-License-Identifier: BSD-2-Clause
"""What the output of LiteX's BIOS says of the board: its ROM, DRAM training and memory test."""

import re

from .findings import Finding, failed, passed

BANNER = b"Build your hardware, easily!"
CONSOLE = b"= Console"  # its prompt follows
NO_MEDIUM = b"No boot medium found"
LIFTOFF = b"Liftoff!"
BOOTED = b"MODERATO-BOOTED"  # of Linux' /init
MEMTEST = ("bus", "addr", "data")
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
ADDRESS_LINE = "an address line is bad: check the DRAM's module in the board's file, then the board"
DATA_LINE = "a data bit is bad: compare runs; the same bit each time is a line or a chip of the board"
NO_DATA = "no word is right: training failed, or the DRAM has no supply; switch off and on"
SINGLE_WORDS = "single words fail: try a slower sys_clk_freq, another --seed, and a cooler board"
NARROW = 2  # taps at either side of the sampling point, of ECP5's eight


def judge(text: str, clock_hz: int | None = None) -> list[Finding]:
    """Findings in the output since reset; parts that the BIOS did not print give none. `clock_hz`: the
    bitstream's."""
    text = COLOURS.sub("", text)
    return [*_rom(text), *_clock(text, clock_hz), *_training(text), *_memory(text)]


def _rom(text: str) -> list[Finding]:
    if found := re.search(r"BIOS CRC (passed|failed)", text):
        if found[1] == "passed":
            return [passed("ROM", "the BIOS' CRC is right")]
        return [
            failed("ROM", "the BIOS' CRC is wrong", "flash again; the bitstream was damaged on its way")
        ]
    return []


def _clock(text: str, clock_hz: int | None) -> list[Finding]:
    found = re.search(r"CPU:\s.* @ (\d+)MHz", text)
    if not found or not clock_hz:
        return []
    if abs(int(found[1]) - clock_hz / 1e6) <= 1:
        return [passed("clock", f"the BIOS was built for {found[1]} MHz")]
    return [
        failed(
            "clock",
            f"the BIOS was built for {found[1]} MHz, --folder's bitstream for {clock_hz / 1e6:g} MHz",
            "the FPGA has another bitstream; flash this one",
        )
    ]


def _training(text: str) -> list[Finding]:
    best = re.findall(r"best: m(\d+), b\d+ delays: (?:(-)|\d+\+-(\d+))", text)
    if not best:
        return []
    lost = [module for module, none, _ in best if none]
    if lost:
        return [
            failed(
                "DRAM training",
                f"byte lane {', '.join(lost)} found no working delay",
                "switch the power off and on; if that does not help, check the DRAM's supply",
            )
        ]
    widths = ", ".join(f"lane {module}: +-{width}" for module, _, width in best)
    if any(int(width) < NARROW for _, _, width in best):
        return [
            failed(
                "DRAM training",
                f"the window is narrow ({widths} taps)",
                "try a slower sys_clk_freq in the board's file, or another placement --seed",
            )
        ]
    return [passed("DRAM training", f"window in taps: {widths}")]


def _memory(text: str) -> list[Finding]:
    speeds = ", ".join(re.findall(r"(?:Write|Read) speed: \S+", text))
    if "Memtest OK" in text:
        return [passed("DRAM", "memory test OK" + (f"; {speeds}" if speeds else ""))]
    if "Memtest KO" in text:
        errors = {name: re.search(rf"{name} errors:\s+(\d+)/(\d+)", text) for name in MEMTEST}
        counts = {name: (int(found[1]), int(found[2])) for name, found in errors.items() if found}
        said = ", ".join(f"{bad} of {all_} {name} words" for name, (bad, all_) in counts.items())
        return [failed("DRAM", f"memory test failed: {said}", _bad_memory(counts))]
    if "Memory initialization failed" in text:
        return [
            failed("DRAM", "its initialisation failed", "switch the power off and on; check its supply")
        ]
    return []


def _bad_memory(counts: dict[str, tuple[int, int]]) -> str:
    """The next step, by which of the tests failed."""
    bad = {name for name, (errors, _) in counts.items() if errors}
    if bad == {"addr"}:
        return ADDRESS_LINE
    if "bus" in bad and counts["bus"][0] == counts["bus"][1]:
        return NO_DATA
    if "bus" in bad:
        return DATA_LINE
    return SINGLE_WORDS
