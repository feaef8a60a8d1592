# SPDX-License-Identifier: BSD-2-Clause
"""`moderato shell`: the guest's console, or one command's output and exit status."""

import os
import sys
import tempfile

from ..show.guest_output import GuestOutput
from . import state
from .machine import machine
from .session import PROMPT
from .system import System

PATIENCE = 20_000_000_000  # clocks that one command may take: 200 s of the guest's time

GREETING = """\
moderato: the console of a router: eth0 has 198.18.0.1, eth1 198.19.0.1; beyond them the tester
moderato: answers ping at 198.18.0.2 and 198.19.0.2. Ctrl-A x ends, Ctrl-C goes to the guest.
"""


def shell(variant: str | None, command: str | None, system: System = System(),
          udp_echo: bool = False) -> int:
    """Returns the exit status: the command's, or the console's."""
    ready = state.ready(machine(system=system), variant)
    return console(ready, udp_echo) if command is None else run(ready, command, udp_echo)


def run(ready: state.State, command: str, udp_echo: bool) -> int:
    """Run any text as a script of the guest's shell; prints what it prints."""
    with ready.open(udp_echo=udp_echo) as session, tempfile.NamedTemporaryFile() as script:
        # Through the mailbox, not the keyboard: any length, any quotes, nothing echoed.
        script.write(os.fsencode(command) + b"\n")
        script.flush()
        session.call("mailbox", file=script.name, address=ready.machine.mailbox)
        session.check("mailbox > /tmp/command")
        with GuestOutput(ready.machine.sys_clk_hz) as output:
            status, _ = session.type("sh /tmp/command < /dev/null", PATIENCE, output.show)
    return status


def console(ready: state.State, udp_echo: bool):
    """Hand the terminal to the guest: this process becomes the simulator."""
    ready.open().end()  # mends a checkpoint that can't be used
    print(GREETING, end="", file=sys.stderr, flush=True)
    simulator = str(ready.machine.simulator)
    options = ["--restore", str(ready.checkpoint), "--interactive", "--prompt", PROMPT]
    os.execv(simulator, [simulator, *options, *(["--udp-echo"] if udp_echo else [])])
