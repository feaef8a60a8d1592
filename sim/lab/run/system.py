# SPDX-License-Identifier: BSD-2-Clause
"""The user's choices for a trial's system: NIC, kernel, harts and their work, memory, clock,
settings."""

from dataclasses import dataclass

from moderato.soc.linux.kernel import NORMAL, Choice

from .variants import INTERFACES, LITEETH, MODERATO, TWO_QUEUES

COMMON, IPI, PINNED, RPS, THREADED, QUEUES = "common", "ipi", "pinned", "rps", "threaded", "queues"
IDEAL, DRAM = "ideal", "dram"
DRAM_BOARD = "versa_ecp5"
NOMINAL_MHZ = 100
MIN_CLOCK, MAX_CLOCK = 40, 400  # MHz: the MAC needs 37.5 at 1 Gb/s
HARTS = (1, 2)
_ALL = 0b11  # all harts, as a mask of the kernel
# The key of a hash that is the same for both directions of a flow (Woo and Park, 2012). Linux' own key
# is random, so it would be different for each build. With few flows, the key decides which harts have
# work.
SYMMETRIC_KEY = ":".join(["6d", "5a"] * 20)


@dataclass(frozen=True)
class System:
    """The choices. `spread` needs several harts."""

    nic: str = MODERATO
    kernel: Choice = NORMAL
    harts: int = 1
    spread: str = COMMON
    ethtool: tuple[str, ...] = ()  # the user's settings, in addition to the variant's
    memory: str = IDEAL  # one of MEMORIES
    clock_mhz: int = NOMINAL_MHZ  # of the SoC; wires and the guest's clock do not change

    @property
    def in_order(self) -> bool:
        """Whether the system keeps the order of a flow's frames: not if two polls share a ring."""
        return self.harts == 1 or self.spread != IPI

    def commands(self) -> list[str]:
        """The guest's commands that spread the ports' work over the harts."""
        if self.harts == 1:
            return []
        own = {name: 1 << number % self.harts for number, name in enumerate(INTERFACES)}
        commands = []
        for name, mask in own.items():
            if self.nic in TWO_QUEUES:
                number = 2 if self.spread == QUEUES else 1
                commands.append(
                    f"ethtool -l {name} | tail -n 2 | grep -q {number} || "
                    f"ethtool -L {name} combined {number}"
                )
            queue = f"/sys/class/net/{name}/queues/rx-0/rps_cpus"
            commands += [
                _affinity(name, mask if self.spread == PINNED else 1),
                f"echo {_ALL if self.spread == RPS else 0:x} > {queue}",
                f"echo {int(self.spread == THREADED)} > /sys/class/net/{name}/threaded",
            ]
            if self.spread == THREADED:
                commands.append(
                    f"for task in $(grep -l ^napi/{name} /proc/[0-9]*/comm | "
                    f"cut -d/ -f3); do pin {mask:x} $task; done"
                )
            if self.spread == QUEUES:
                commands += [_affinity(f"{name}-[rt]x1", 2), f"ethtool -X {name} hkey {SYMMETRIC_KEY}"]
            if self.nic != LITEETH:
                shared = "on" if self.spread == IPI else "off"
                commands.append(f"ethtool --set-priv-flags {name} rx-shared {shared}")
        return commands


MEMORIES = {
    IDEAL: "a RAM that answers 8 cycles after each command",
    DRAM: "the Versa's DDR3 with LiteDRAM's controller",
}
SPREADS = {
    COMMON: "all interrupts and polls at hart 0",
    IPI: "all interrupts at hart 0, which wakes hart 1 when more frames wait than one poll takes; both "
    "take frames off the same ring (mode 1 of Yao et al.)",
    PINNED: "each port's interrupts at a hart of its own (their mode 2)",
    RPS: "all interrupts at hart 0, which hands streams to both harts (receive packet steering)",
    THREADED: "all interrupts at hart 0; a thread polls each port, at a hart of its own (threaded NAPI)",
    QUEUES: "the MAC hashes each port's streams to two queues, each with its interrupts at a hart of "
    "its own (needs --nic offload or time)",
}


def _affinity(interface: str, mask: int) -> str:
    """The lines of /proc/interrupts are `7:  123  0  SiFive PLIC  3 Level  eth0-rx`."""
    return (
        f"for line in $(grep {interface} /proc/interrupts | cut -d: -f1); "
        f"do echo {mask:x} > /proc/irq/$line/smp_affinity; done"
    )
