# SPDX-License-Identifier: BSD-2-Clause
"""What a trial runs on, as far as a user chooses it: NIC, harts, kernel, who serves which port."""

from dataclasses import dataclass

from moderato.soc.linux.kernel import NORMAL, Choice

from .variants import INTERFACES, MODERATO

COMMON, PINNED, RPS, THREADED = "common", "pinned", "rps", "threaded"
_ALL = 0b11  # harts, as the kernel's masks have them


@dataclass(frozen=True)
class System:
    """A choice of each. Only with several harts is there something to spread."""
    nic:    str = MODERATO
    kernel: Choice = NORMAL
    harts:  int = 1
    spread: str = COMMON

    def commands(self) -> list[str]:
        """What the guest runs to spread the work of its ports over the harts."""
        if self.harts == 1:
            return []
        masks = dict.fromkeys(INTERFACES, 1)
        if self.spread == PINNED:
            masks = {name: 1 << number % self.harts for number, name in enumerate(INTERFACES)}
        commands = [_affinity(name, mask) for name, mask in masks.items()]
        for name in INTERFACES:
            queue = f"/sys/class/net/{name}/queues/rx-0/rps_cpus"
            commands += [f"echo {_ALL if self.spread == RPS else 0:x} > {queue}",
                         f"echo {int(self.spread == THREADED)} > /sys/class/net/{name}/threaded"]
        return commands


SPREADS = {
    COMMON:   "all interrupts at hart 0",
    PINNED:   "each port's interrupts at a hart of its own",
    RPS:      "all interrupts at hart 0, which hands flows to both harts (receive packet steering)",
    THREADED: "a thread polls each port, on any hart (threaded NAPI)",
}


def _affinity(interface: str, mask: int) -> str:
    """The lines of /proc/interrupts are `7:  123  0  SiFive PLIC  3 Level  eth0-rx`."""
    return (f"for line in $(grep {interface} /proc/interrupts | cut -d: -f1); "
            f"do echo {mask:x} > /proc/irq/$line/smp_affinity; done")
