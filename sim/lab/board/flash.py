# SPDX-License-Identifier: BSD-2-Clause
"""`moderato board flash`: openFPGALoader writes the bitstream into the FPGA or into its SPI flash."""

import os
import re
import shlex
import shutil
import subprocess
import sys

from ..show.errors import LabError, UsageError
from .built import Built

PROGRAM = "openFPGALoader"
# The words that choose the JTAG adapter; a board that is not listed has none of its own.
ADAPTERS = {"versa_ecp5": ("-c", "ft2232"), "ecpix5": ("-b", "ecpix5")}
# IEEE 1149.1's IDCODE of each FPGA, from Project Trellis' devices.json.
IDCODES = {
    "LFE5UM5G-45F": 0x81112043,
    "LFE5UM5G-85F": 0x81113043,
    "LFE5U-25F": 0x41111043,
}
UDEV = 'SUBSYSTEM=="usb", ATTRS{idVendor}=="0403", ATTRS{idProduct}=="6010", MODE="0660", TAG+="uaccess"'
RULES = "/etc/udev/rules.d/70-fpga.rules"
# Parts of openFPGALoader's output (libftdi's numbers), and the message for each.
FAULTS = {
    r"device not found|No such device|unable to retrieve usb device": (
        "no JTAG adapter answers; connect the board's USB, switch it on, and look for it with `lsusb`"
    ),
    r"usb_open\(\) failed|LIBUSB_ERROR_ACCESS|Permission denied|inappropriate permissions": (
        f"this user may not open the JTAG adapter; as root, write this line into {RULES}, run "
        f"`udevadm control --reload`, and plug the USB in again: {UDEV}"
    ),
    r"LIBUSB_ERROR_BUSY|unable to claim|Device or resource busy": (
        "another program has the JTAG adapter open; end it"
    ),
}


def flash(built: Built, spi: bool, adapter: str | None, dry_run: bool) -> int:
    """Write the bitstream; `spi`: into the flash, from which the FPGA starts at power-on. `adapter`: one
    that `openFPGALoader --list-cables` names, in place of the board's own."""
    words = _adapter(built.board, adapter)
    detect = [PROGRAM, *words, "--detect"]
    write = [PROGRAM, *words, "--write-flash" if spi else "--write-sram", str(built.bitstream)]
    if dry_run:
        print(shlex.join(detect), shlex.join(write), sep="\n")
        return 0
    if not shutil.which(PROGRAM):
        raise LabError(f"{PROGRAM} is missing; install it: apt install openfpgaloader")
    require_device(built.soc["device"], _run(detect))
    _run(write, show=True)
    place = "its SPI flash, for every power-on" if spi else "the FPGA, until power goes off"
    print(f"moderato: {built.bitstream} is in {place}", file=sys.stderr)
    return 0


def _adapter(board: str, adapter: str | None) -> tuple[str, ...]:
    if adapter:
        return "-c", adapter
    if board not in ADAPTERS:
        raise UsageError(
            f"{board} has no JTAG adapter of its own; name yours, such as --adapter ft232 "
            f"(`{PROGRAM} --list-cables` lists them)"
        )
    return ADAPTERS[board]


def require_device(device: str, output: str):
    """Raises LabError if the FPGA that openFPGALoader detected is not `device` (its whole name)."""
    wanted = IDCODES[device.rsplit("-", 1)[0]]
    found = [int(code, 16) for code in re.findall(r"idcode\s+(?:0x)?([0-9a-f]+)", output, re.IGNORECASE)]
    if not found:
        raise LabError(
            f"no FPGA answers on JTAG; switch the board on, and check its jumpers: {_last(output)}"
        )
    if wanted not in found:
        known = {code: name for name, code in IDCODES.items()}
        names = ", ".join(f"{code:#010x}" + f" ({known[code]})" * (code in known) for code in found)
        raise LabError(
            f"another FPGA is on the cable: its IDCODE is {names}, and {device} has {wanted:#010x}; "
            "connect the right board, or name the right --board"
        )


def _run(command: list[str], show: bool = False) -> str:
    """The output of openFPGALoader; `show`: also while it runs."""
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        assert process.stdout
        said = b""
        try:
            while piece := os.read(process.stdout.fileno(), 4096):
                said += piece
                if show:
                    sys.stderr.buffer.write(piece)
                    sys.stderr.flush()
        except BaseException:
            process.terminate()
            raise
    output = said.decode(errors="replace")
    if process.returncode:
        for pattern, message in FAULTS.items():
            if re.search(pattern, output):
                raise LabError(message)
        raise LabError(f"`{shlex.join(command)}` failed: {_last(output)}")
    return output


def _last(output: str) -> str:
    lines = re.sub(r"\x1b\[[0-9;]*m", "", output).split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "it printed nothing")
