# SPDX-License-Identifier: BSD-2-Clause
"""The box between two hosts, recorded, and played again."""

from ..show.errors import UsageError
from . import arguments, common, files

EXAMPLES = ("--record session",
            "-c 'ping -c 3 198.18.0.1'",
            "--variant napi -c 'curl -s http://198.18.0.1/cgi-bin/counters' --capture page.pcapng",
            "--replay session",
            "--replay session --from 95000000 --until 97000000 --folded stacks")


def options(parser):
    common.add_machine(parser, without="default: what the driver does by itself")
    add = parser.add_argument
    add("-c", dest="command", metavar="COMMAND",
        help="run this on the host beyond port 0, and end with its status; `$HOST1 COMMAND` in it "
             "runs on the one beyond port 1 (default: the guest's console)")
    add("--record", type=files.streamed_file, metavar="FILE",
        help="write every input here, with its cycle")
    add("--replay", type=files.input_file, metavar="FILE",
        help="play a recording in place of hosts; it says which variant and machine")
    add("--capture", type=files.streamed_file, metavar="FILE",
        help="write what passed both ports here, as pcapng in simulated time")
    add("--watch", action="store_true",
        help="show what happens on a page, for a browser on this machine; a replay waits for it")
    add("--until", type=arguments.cycle, metavar="CYCLE", help="end there, if not before")
    add("--pace", type=arguments.pace, metavar="RATIO",
        help="simulated seconds in a second, at most (default: 1)")
    add("--folded", type=files.output_file, metavar="FILE",
        help="of a replay: write each stack of the guest's functions with its cycles here, as "
             "flamegraph.pl reads them")
    add("--from", dest="begin", type=arguments.cycle, metavar="CYCLE",
        help="of --folded: leave out what was before")
    common.add_json(parser)


def check(options):
    common.require_distinct([("--replay", options.replay)],
                            [("--record", options.record), ("--capture", options.capture),
                             ("--json", options.json), ("--folded", options.folded)])


def run(options) -> int:
    from ..live import live
    require_together(options)
    common.variants(options)
    request = live.Request(options.variant, options.command, common.system(options), options.record,
                           options.capture, options.json, options.until, options.pace or 1.0,
                           options.begin, options.folded, options.watch)
    return live.replay(options.replay, request) if options.replay else live.live(request)


def require_together(options):
    """Refuse options of a session with those of a replay."""
    if options.begin is not None and not options.folded:
        raise UsageError("--from is of --folded; add that, or leave it out")
    if options.folded and not options.replay:
        raise UsageError("--folded is of a --replay; --record a session, and replay it")
    if options.replay:
        for name in ("command", "record", "pace", "variant"):
            if getattr(options, name) is not None:
                said = "-c" if name == "command" else f"--{name}"
                raise UsageError(f"{said} is of a session, and --replay has one that was recorded; "
                                 "leave one of them out")
    elif options.json and options.command is None:
        raise UsageError("--json is of a session with -c, or of a --replay; --record one at the "
                         "console, and replay it")
