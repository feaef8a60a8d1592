# SPDX-License-Identifier: BSD-2-Clause
"""`moderato shell`: the guest's console, or one command's output and exit status."""

import json
import os
import sys
from dataclasses import dataclass

from ..show.guest_output import GuestOutput
from . import state
from .console import package
from .machine import machine
from .session import PROMPT, Session
from .system import System

TIMEOUT = 20_000_000_000  # clocks that a command may take: 200 s of the guest's time

LINK_MBPS = 100
OVERHEAD = 20  # octets of preamble, SFD and gap (IEEE 802.3)
MOST_FRAMES = 200_000_000  # to a port: more than a day of simulation at 100 Mb/s

GREETING = """\
moderato: the console of a router: eth0 has 198.18.0.1, eth1 198.19.0.1; beyond
moderato: them the tester answers ping at 198.18.0.2 and 198.19.0.2.
moderato: `help` says what is there, Ctrl-A x leaves. Ctrl-C goes to the guest.
"""


@dataclass(frozen=True)
class Load:
    """The load that the tester offers to both ports: octets of a frame with FCS, percent of the line
    rate."""

    percent: float
    frame_bytes: int

    def request(self, sys_clk_hz: int) -> dict:
        """The fields of moderato-sim's `offer`."""
        offer = {"frame_bytes": self.frame_bytes, "load_percent": self.percent, "frames": MOST_FRAMES}
        slot = sys_clk_hz * (self.frame_bytes + OVERHEAD) * 8 / (LINK_MBPS * 1e6) * 100 / self.percent
        # Two testers are never synchronous.
        return {"ports": [offer, offer | {"phase": round(slot / 2)}], "link_mbps": LINK_MBPS}

    def __str__(self) -> str:
        return (
            f"the tester offers {self.frame_bytes}-byte frames to each port, {self.percent:g} % "
            f"of {LINK_MBPS} Mb/s"
        )


def shell(
    variant: str | None,
    command: str | None,
    system: System = System(),
    udp_echo: bool = False,
    load: Load | None = None,
) -> int:
    """Returns the exit status: the command's, or the console's."""
    ready = state.at_console(state.ready(machine(LINK_MBPS, system), variant), package(system.nic))
    if command is None:
        return console(ready, udp_echo, load)
    return run(ready, command, udp_echo, load)


def run(ready: state.State, command: str, udp_echo: bool, load: Load | None = None) -> int:
    """Run any text as a script of the guest's shell, and print its output."""
    script = os.fsencode(command) + b"\n"
    with ready.open(udp_echo=udp_echo) as session:
        session.put(script, ready.machine.mailbox)
        if load:
            session.call("offer", **load.request(ready.machine.sys_clk_hz))
        with GuestOutput(ready.machine.sys_clk_hz) as output:
            status = session.run(script, TIMEOUT, output.show)
        if load:
            print(f"moderato: {load}: {rates(session, ready.machine.sys_clk_hz)}", file=sys.stderr)
    return status


def rates(session: Session, sys_clk_hz: int) -> str:
    """Rates of the offered frames' fates, both ports together."""
    report = session.call("status")
    seconds = (report["cycle"] - report["start_cycle"]) / sys_clk_hz

    def rate(*events: str) -> int:
        return round(
            sum(port["events"][event] for port in report["ports"] for event in events) / seconds
        )

    forwarded = round(sum(port["forwarded"] for port in report["ports"]) / seconds)
    dropped = rate("rx_drop_ring", "rx_drop_fifo", "rx_drop_error", "rx_drop_filter")
    return (
        f"{rate('rx_completed')} received, {forwarded} forwarded, {dropped} dropped, "
        f"{rate('rx_interrupt', 'tx_interrupt')} interrupts per second"
    )


def console(ready: state.State, udp_echo: bool, load: Load | None = None):
    """Hand the terminal to the guest: this process becomes the simulator."""
    ready.open().end()  # replaces an unusable checkpoint
    print(GREETING + f"moderato: {load}\n" * bool(load), end="", file=sys.stderr, flush=True)
    simulator = str(ready.machine.simulator)
    options = ["--restore", str(ready.checkpoint), "--interactive", "--prompt", PROMPT]
    if load:
        options += ["--offer", json.dumps(load.request(ready.machine.sys_clk_hz))]
    os.execv(simulator, [simulator, *options, *(["--udp-echo"] if udp_echo else [])])
