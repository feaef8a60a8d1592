# SPDX-License-Identifier: BSD-2-Clause
"""`moderato shell`: the guest's console, or one command's output and exit status."""

import os
import sys
import tempfile

from moderato.soc.linux.kernel import NORMAL

from . import state
from .machine import machine

PATIENCE = 20_000_000_000  # clocks that one command may take: 200 s of the guest's time


def shell(variant: str | None, command: str | None, nic: str = "moderato",
          kernel: str = NORMAL) -> int:
    """Returns the exit status: the command's, or the console's."""
    ready = state.ready(machine(nic=nic, kernel=kernel), variant, static=False)
    return console(ready) if command is None else run(ready, command)


def run(ready: state.State, command: str) -> int:
    """Run any text as a script of the guest's shell; prints what it prints."""
    with ready.open() as session, tempfile.NamedTemporaryFile() as script:
        # Through the mailbox, not the keyboard: any length, any quotes, nothing echoed.
        script.write(command.encode() + b"\n")
        script.flush()
        session.call("mailbox", file=script.name, address=ready.machine.mailbox)
        session.check("mailbox > /tmp/command")
        status, output = session.type("sh /tmp/command < /dev/null", max_cycles=PATIENCE)
    sys.stdout.write(output)
    return status


def console(ready: state.State):
    """Hand the terminal to the guest: this process becomes the simulator."""
    ready.open().end()  # mends a checkpoint that can't be used
    print("moderato: the guest's console; Ctrl-A x ends it", file=sys.stderr)
    sys.stderr.flush()
    simulator = str(ready.machine.simulator)
    os.execv(simulator, [simulator, "--restore", str(ready.checkpoint), "--interactive"])
