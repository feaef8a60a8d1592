# SPDX-License-Identifier: BSD-2-Clause
"""One box or two between two hosts, recorded, and played again."""

import argparse
import sys
from pathlib import Path

from ..run.variants import LITEETH
from ..show import outputs
from ..show.errors import UsageError
from . import arguments, common, files

EXAMPLES = (
    "--record session",
    "-c 'ping -c 3 198.18.0.1'",
    "--variant napi -c 'curl -s http://198.18.0.1/cgi-bin/counters' --capture page.pcapng",
    "--replay session",
    "--boxes 2 -c 'ping -c 3 198.19.0.2' --record session",
    "--boxes 2 --type0 'wget -O /dev/null http://198.18.1.2/' -c 'sleep 60'",
    "--replay session --from 95000000 --until 97000000 --folded stacks",
)

MACHINE = ("nic", "kernel", "hz", "harts", "spread", "memory", "clock")  # also in a recording


def options(parser):
    common.add_machine(parser, without="default: what the driver does by itself")
    add = parser.add_argument
    add(
        "-c",
        dest="command",
        metavar="COMMAND",
        help="run this on the host beyond port 0, and end with its status; `$HOST1 COMMAND` in it "
        "runs on the one beyond port 1 (default: the guest's console)",
    )
    add(
        "--boxes",
        type=arguments.boxes,
        default=1,
        metavar="N",
        help="2: port 1 of this one is wired to port 0 of another one, in simulated time, and the "
        "second host is beyond that (default: 1)",
    )
    add(
        "--delay",
        type=arguments.delay,
        metavar="NS",
        help=f"delay of the wire between two boxes, 0 to {arguments.MAX_DELAY} (default: 1000)",
    )
    for number in range(2):
        add(
            f"--type{number}",
            dest=f"type{number}",
            type=files.text,
            metavar="COMMAND",
            help=f"type this at the console of box {number} as the session begins",
        )
    add(
        "--record",
        type=files.streamed_file,
        metavar="FILE",
        help="write every input here, with its cycle",
    )
    add(
        "--replay",
        type=files.input_file,
        metavar="FILE",
        help="play a recording in place of hosts; it says which variant and machine",
    )
    add(
        "--capture",
        type=files.streamed_file,
        metavar="FILE",
        help="write what passed both ports here, as pcapng in simulated time",
    )
    add(
        "--watch",
        action="store_true",
        help="show what happens on a page, for a browser on this machine; a replay waits for it",
    )
    add("--until", type=arguments.cycle, metavar="CYCLE", help="end there, if not before")
    add(
        "--pace",
        type=arguments.pace,
        metavar="RATIO",
        help="simulated seconds in a second, at most (default: 1)",
    )
    add(
        "--folded",
        type=files.output_file,
        metavar="FILE",
        help="with --replay: write each stack of the guest's functions with its cycles here, as "
        "flamegraph.pl reads them",
    )
    add(
        "--from",
        dest="begin",
        type=arguments.cycle,
        metavar="CYCLE",
        help="with --folded: leave out earlier cycles",
    )
    common.add_json(parser)


def check(options):
    beside = second_recording(options)
    second = second_files(options) if options.boxes > 1 or beside else []
    common.require_distinct(
        [("--replay", options.replay), ("--replay of box 1", beside)],
        [
            ("--record", options.record),
            ("--capture", options.capture),
            ("--json", options.json),
            ("--folded", options.folded),
            *second,
        ],
    )
    for name, path in second:
        try:
            files.streamed_file(str(path))
        except argparse.ArgumentTypeError as error:
            raise UsageError(f"{name}: {error}") from None
    require_together(options)
    require_of_two(options)
    common.require_system(options)


def second_recording(options) -> Path | None:
    """The recording of box 1, if there are two boxes to replay."""
    path = options.replay and outputs.numbered(options.replay, 1)
    return path if path and path.exists() else None


def second_files(options) -> list[common.Named]:
    """The files to write for the second of two boxes."""
    return [
        (f"--{name} of box 1", outputs.numbered(path, 1))
        for name in ("record", "capture", "folded")
        if (path := getattr(options, name)) and outputs.descriptor(path) is None
    ]


def run(options) -> int:
    from ..live import live

    request = common.request(live.Request, options, typed=(options.type0, options.type1))
    return live.replay(options.replay, request) if options.replay else live.live(request)


def require_together(options):
    """Reject options of a session together with --replay."""
    from ..cli import parser  # which imports the commands

    if options.begin is not None and not options.folded:
        raise UsageError("--from needs --folded; add it, or leave --from out")
    if options.folded and not options.replay:
        raise UsageError("--folded needs --replay; --record a session, and replay it")
    if options.replay:
        for name in ("command", "record", "pace", "variant", "delay", "type0", "type1"):
            if getattr(options, name) is not None:
                said = "-c" if name == "command" else f"--{name}"
                raise UsageError(
                    f"{said} is for a new session, and --replay plays a recorded one; "
                    "leave one of them out"
                )
        for name in MACHINE:
            if getattr(options, name) != parser("live").get_default(name):
                raise UsageError(
                    f"--{name} is for a new session; --replay takes it from the recording. Leave one of "
                    "them out"
                )
    elif options.json and options.command is None:
        raise UsageError("--json needs -c or --replay; --record a session at the console, and replay it")


def require_of_two(options):
    """Reject options for two boxes if there is one, or in a replay: the recording has the number."""
    if options.boxes == 1 or options.replay:
        if options.boxes > 1:
            raise UsageError(
                "--boxes is for a new session, and --replay plays a recorded one; leave one of them out"
            )
        for name in ("delay", "type1"):
            if getattr(options, name) is not None:
                raise UsageError(f"--{name} needs two boxes; add --boxes 2")
        return
    if options.nic == LITEETH:
        raise UsageError(
            "--boxes 2 needs ports whose MAC addresses can be set, and the kernel's "
            "driver for LiteEth can't; leave --nic or --boxes out"
        )
    if options.watch:
        raise UsageError(
            "--watch shows one box; leave it or --boxes out; --capture has what passes both"
        )
    if options.command is None and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("the consoles of two boxes need a terminal; give a command with -c")
