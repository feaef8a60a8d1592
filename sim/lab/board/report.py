# SPDX-License-Identifier: BSD-2-Clause
"""`moderato board report`: what an issue about a board needs, without names and addresses."""

import getpass
import ipaddress
import json
import os
import platform
import re
from collections.abc import Iterable
from pathlib import Path

from moderato.toolchain import about, project

from ..run.stations import ROUTER, TESTER
from . import check, flash, tftp, wire
from .desk import Desk

# On the board, after the checks.
COMMANDS = (
    "cat /proc/version",
    "dmesg | tail -n 60",
    "cat /proc/interrupts",
    "ip -s -s link",
)
STATIONS = (*ROUTER, *TESTER)
MACS = {station.mac for station in STATIONS} | {"00:00:00:00:00:00", "ff:ff:ff:ff:ff:ff"}
ADDRESSES = {station.ipv4 for station in STATIONS} | {tftp.SERVER, tftp.CLIENT, "127.0.0.1", "0.0.0.0"}
MAC = re.compile(r"\b(?:[0-9a-f]{2}([:-]))(?:[0-9a-f]{2}\1){4}[0-9a-f]{2}\b", re.IGNORECASE)
IPV4 = re.compile(r"\b(?:\d{1,3}\.){3}\d{1,3}\b")
IPV6 = re.compile(r"(?<![\w:])[0-9a-f]*:[0-9a-f:.]*:[0-9a-f:.]*(?![\w:])", re.IGNORECASE)
BUILDER = re.compile(r"\([\w.-]+@[\w.-]+\)")  # of a kernel, in its banner
EVERYWHERE = {"root", "localhost"}  # which name nobody


def report(at: Desk) -> str:
    """The page, in Markdown."""
    found = [each.line for each in check.check(at)]
    here = {
        "commit": project.version(),
        "python": platform.python_version(),
        flash.PROGRAM: about.program(flash.PROGRAM),
        "machine": about.machine(),
        "drivers of interfaces": [wire.driver(each.name) for each in at.wires.values()],
    }
    parts = {
        "check": "\n".join(found),
        "bitstream": json.dumps(at.built.report, indent=2),
        "SoC": json.dumps(at.built.soc, indent=2),
        "this machine": json.dumps(here, indent=2),
    }
    commands = (*COMMANDS, *(f"ethtool -S {name}" for name in at.built.interfaces))
    parts |= {command: at.shell.run(command)[1] for command in commands}
    names = [*(each.name for each in at.wires.values()), at.shell.line.device]
    text = "\n".join(f"## {name}\n\n```\n{part.rstrip()}\n```\n" for name, part in parts.items())
    return without_names(f"# {at.built.board}\n\n{text}", names)


def without_names(text: str, devices: Iterable[str] = ()) -> str:
    """Replace addresses that are not the bench's, and names of user, machine, home folder and
    devices. The name of an adapter's serial line may have its serial number."""
    text = MAC.sub(lambda found: found[0] if found[0].lower() in MACS else "MAC", text)
    text = IPV4.sub(lambda found: found[0] if found[0] in ADDRESSES else "ADDRESS", text)
    text = IPV6.sub(lambda found: "ADDRESS" if _is_ipv6(found[0]) else found[0], text)
    text = BUILDER.sub("(BUILDER)", text)
    secret = dict.fromkeys(devices, "DEVICE") | {str(Path.home()): "HOME", _user(): "USER"}
    secret |= dict.fromkeys((platform.node(), platform.node().partition(".")[0]), "HOST")
    for word in sorted(secret, key=len, reverse=True):
        if len(word) > 1 and word not in EVERYWHERE:
            text = re.sub(rf"(?<![\w-]){re.escape(word)}(?![\w-])", secret[word], text)
    return text


def _is_ipv6(word: str) -> bool:
    try:
        return bool(ipaddress.IPv6Address(word)) and any(map(str.isalnum, word))
    except ValueError:
        return False


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())
