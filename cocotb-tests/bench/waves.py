# SPDX-License-Identifier: BSD-2-Clause
"""With WAVES=1: the files that show a simulation's wave in a viewer, as those of `./moderato wave`."""

import os
import re
from pathlib import Path

from moderato.sim.lab.wave import signals, viewers

FILE  = "dump.fst"   # cocotb's name for it
PS    = 1000         # of the file, in a ns
PORTS = "$rootio."   # Verilator lists the ports of a device here, too
FEW   = 200          # Of a device with more signals, only those of the default are shown.
STAGE = re.compile(r"(?<![a-z])(receive|transmit|[rt]xring|gatherring|registerfile|pacing|flows)(?=_)")


def wanted() -> bool:
    return bool(os.environ.get("WAVES"))


def save(folder: Path, device: str, name: str, begin: float, end: float) -> str:
    """Writes the viewers' files `name` for the wave in `folder`, from `begin` to `end` in simulated ns,
    with the marker at the end. Returns the commands that open it."""
    from pywellen import Waveform

    file  = folder / FILE
    named = [(var.full_name, var.bitwidth or 1) for var in Waveform(str(file)).all_vars()]
    first, last = round(begin*PS), round(end*PS)
    view  = viewers.View(file, {}, of_device(named, device), first, last, [last])
    gtkw, sucl = (folder / f"{name}{suffix}" for suffix in (".gtkw", ".sucl"))
    gtkw.write_text(viewers.gtkwave(view))
    sucl.write_text(viewers.surfer(view))
    return f"gtkwave {gtkw}\n         or: surfer --command-file {sucl} {file}"


def of_device(named: list[tuple[str, int]], device: str) -> list[signals.Signal]:
    """The signals to show, in rooms, from all paths of a file and their numbers of bits."""
    ports = {path.removeprefix(PORTS) for path, _ in named if path.startswith(PORTS)}
    inner = [(path.removeprefix(f"{device}."), bits) for path, bits in named
             if path.startswith(f"{device}.") and "[" not in path] # no words of memories
    in_soc = signals.in_rooms([(_in_soc(name), bits) for name, bits in inner])
    found = []
    for (name, bits), of_soc in zip(inner, in_soc):
        room = "ports" if name in ports else of_soc.room
        if room.endswith(".other"):
            room = name.partition("_")[0]
        found.append((signals.Signal(f"{device}.{name}", bits, room, f"{device}."), of_soc))
    return [own for own, of_soc in found
            if len(found) <= FEW or own.room == "ports" or signals.is_default(of_soc)]


def _in_soc(name: str) -> str:
    """The path of the same signal in a SoC, where the names of a MAC's signals begin with the MAC's, and
    each stage has a number, because there are several."""
    mac = "" if re.match(r"moderatomac\d_|(eth|simphy)\d_", name) else "moderatomac0_"
    return f"{signals.SOC}{mac}" + STAGE.sub(r"\g<0>0", name)
