# SPDX-License-Identifier: BSD-2-Clause
"""Where the CPU's cycles go in a trial: samples of the program counter, by function of the guest.

    .venv/bin/python -m moderato.sim.lab.profile VARIANT [FRAME_SIZE [LOAD_PERCENT]]

The guest is untouched and does not notice. Samples are taken every 97 clocks over the whole trial
(offering and draining); a function's share is its own, without what it calls.
"""

import argparse
import bisect
import collections
import subprocess
import tempfile
from pathlib import Path

from moderato.soc.linux.kernel import kernel

from . import arguments, state, trial
from .machine import Machine, machine
from .results import Trial, frames_for
from .variants import LITEETH, VARIANTS

EVERY   = 97   # clocks; a prime, so that no loop of the guest is in step with it
SECONDS = 0.05  # of simulated time in which frames are offered
LINES   = 30
USER    = "0"  # privilege of user programs, whose addresses say nothing here


def profile(of: Machine, one: Trial) -> tuple[collections.Counter, int]:
    """Samples by function, and how many frames were forwarded."""
    with state.ready(of, one.variant).open() as session:
        module = int(session.check(f"cat /sys/module/{of.driver.stem}/sections/.text"), 16)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "samples"
            session.call("profile", every=EVERY)
            reply = session.call("trial", **trial.request(one, round(of.sys_clk_hz * one.seconds)))
            session.call("profile", stop=str(file))
            samples = [line.split() for line in file.read_text().splitlines()]
    system_map = kernel(of.soc["cpu"]["harts"]).system_map
    name = symbols({**of_kernel(system_map), **of_module(of.driver, module)})
    found = collections.Counter()
    for privilege, address, count in samples:
        found[where(privilege, address, name)] += int(count)
    return found, sum(port["forwarded"] for port in reply["ports"])


def where(privilege: str, address: str, name) -> str:
    if privilege == "idle":
        return "(waits for an interrupt)"
    if privilege == USER:
        return "(user)"
    return name(int(address, 16)) if privilege == "1" else "(firmware)"


def of_kernel(system_map: Path) -> dict[int, str]:
    """Addresses and names of the kernel's functions."""
    lines = map(str.split, system_map.read_text().splitlines())
    return {int(address, 16): name for address, kind, name in lines if kind in "tTwW"}


def of_module(file: Path, base: int) -> dict[int, str]:
    """Addresses and names of a module's functions, its text being at `base`."""
    listed = subprocess.run(["riscv64-linux-gnu-objdump", "-t", "-j", ".text", file], check=True,
                            capture_output=True, text=True).stdout
    lines = [line.split() for line in listed.splitlines() if " F .text" in line]
    return {base + int(line[0], 16): line[-1] for line in lines}


def symbols(functions: dict[int, str]):
    """A function from an address to the name of the guest's function there."""
    starts = sorted(functions)
    return lambda address: functions[starts[max(0, bisect.bisect_right(starts, address) - 1)]]


def main():
    options = argparse.ArgumentParser(description="Where the CPU's cycles go in a trial.")
    options.add_argument("variant", choices=[*VARIANTS, LITEETH], metavar="VARIANT",
                         help=", ".join([*VARIANTS, LITEETH]))
    options.add_argument("frame_size", type=arguments.frame_size, nargs="?", default=64)
    options.add_argument("load", type=arguments.load, nargs="?", default=100, help="percent")
    chosen = options.parse_args()
    frames = frames_for(SECONDS, chosen.frame_size, chosen.load, 100)
    one = Trial(chosen.variant, chosen.frame_size, chosen.load, frames, 100)
    nic = LITEETH if one.variant == LITEETH else "moderato"
    found, forwarded = profile(machine(nic=nic), one)
    total = sum(found.values())
    print(f"{one.name}: {total * EVERY / 1e6:.1f} M clocks, {forwarded} frames forwarded")
    print("  share  clocks/frame  function")
    for function, count in found.most_common(LINES):
        print(f"{100 * count / total:6.1f} %{count * EVERY / max(1, forwarded):13.0f}  {function}")


if __name__ == "__main__":
    main()
