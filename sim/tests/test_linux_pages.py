# SPDX-License-Identifier: BSD-2-Clause
"""Linux' large pages with memory sizes and kernel options that the lab does not have.

Slow: builds a SoC with 512 MiB, and additional kernels. The device tree limits the RAM to the size that
a test needs.
"""

import json

import linear_map
import pytest

from moderato.sim.harness.build import simulator
from moderato.sim.lab.run import machine, state
from moderato.sim.lab.run.session import PROMPT, Session
from moderato.sim.lab.run.system import System
from moderato.sim.sim_soc import SimConfig, soc_verilog
from moderato.soc.linux.driver import driver
from moderato.soc.linux.kernel import DEBUG, NORMAL, STOCK, Choice, kernel
from moderato.soc.linux.memory_map import memory_map

pytestmark = pytest.mark.slow

MIB = 1 << 20
PAGEALLOC, STRICT = Choice("pagealloc"), Choice("strict")


@pytest.fixture
def boot(monkeypatch):
    """A function that boots a kernel with some MiB of RAM, loads and unloads a module, and checks the
    pages of the linear map: large ones wherever possible, or none."""
    verilog = soc_verilog(SimConfig(ram_bytes=512 * MIB))
    binary = simulator(verilog)
    for choice in PAGEALLOC, STRICT:
        monkeypatch.setitem(machine.KERNELS, choice.name, machine.KERNELS[NORMAL.name])

    def run(choice: Choice, large: bool, mib: int = 32, bootargs: str = "", **memory):
        soc = json.loads((verilog / "soc.json").read_text())
        soc["memory"].update(size=mib * MIB, **memory)
        images = machine.boot_images(soc, 100, choice, bootargs)
        with Session(binary, load=images) as guest:
            for text in "MODERATO-BOOTED", PROMPT:
                guest.call("expect", text=text, max_cycles=400_000_000)
            guest.greet()
            guest.call("mailbox", file=str(driver(choice=choice)), address=memory_map(soc).mailbox)
            # When a module is unloaded, its pages get the usual permissions back.
            guest.check("mailbox > /tmp/x; insmod /tmp/x; rmmod moderato; insmod /tmp/x")
            linear_map.check(guest, kernel(choice=choice), soc, large)

    return run


@pytest.mark.parametrize("mib", (32, 34, 128, 512))
def test_memory(boot, mib):
    boot(NORMAL, True, mib)


@pytest.mark.parametrize("system", (System(harts=2), System(kernel=DEBUG)))
def test_other_kernels_of_the_lab(system):
    """From their checkpoints; the debug kernel's takes 25 minutes to make."""
    chosen = machine.machine(system=system)
    with state.booted(chosen).open() as guest:
        linear_map.check(guest, kernel(system.harts, system.kernel), chosen.soc, True)


def test_stock(boot):
    boot(Choice(STOCK), False)


def test_debug_pagealloc(boot):
    """If enabled, it unmaps freed pages one by one; if only compiled in, it has no effect."""
    boot(PAGEALLOC, False, bootargs="debug_pagealloc=on")
    boot(PAGEALLOC, True)


def test_strict_kernel_rwx(boot):
    boot(STRICT, False, 128, kernel_room=64 * MIB - 0x110000)
