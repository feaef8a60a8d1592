# SPDX-License-Identifier: BSD-2-Clause
"""A waveform of any cycles of a trial, a command or a replay."""

from ..live.recording import is_recording
from ..show.errors import UsageError
from ..wave.triggers import KINDS, parse
from . import arguments, common, files
from .live import MACHINE

EXAMPLES = (
    "--variant napi --output frame.fst",
    "--variant napi --frames 600 --at rx-drop-ring:0 --output drop.fst",
    "--variant napi --at function:moderato_napi_poll --scope mac0.queue0 --output p.fst",
    "--variant napi --at csr-write:RX_DOORBELL:0 --every 3 --output doorbells.fst",
    "--variant napi -c 'ping -c 1 198.18.0.2' --output ping.fst",
    "--variant napi --replay in.pcap --rewrite --output capture.fst",
)
OF_TRIALS = {
    "--frame-size": "frame_bytes",
    "--load": "load_percent",
    "--frames": "frames",
    "--link": "link_mbps",
    "--streams": "streams",
    "--one-way": "one_way",
}
# Of those, for a capture. A recording has its variant and its machine, too.
OF_RECORDINGS = {
    "--variant": "variant",
    "--rewrite": "rewritten",
    "--ethtool": "ethtool",
    **{f"--{name}": name for name in MACHINE},
}
COMMANDS = "rx-completed"  # the trigger where no frames are known
TRIGGER, BEFORE, AFTER, CYCLES = "frame-in:0", 1_000, 20_000, 20_000


def options(parser):
    common.add_machine(parser, fast=True)
    common.add_frame_size(parser)
    common.add_load(parser)
    add = parser.add_argument
    add(
        "--frames",
        type=arguments.frames,
        default=32,
        metavar="N",
        help="offered to each port (default: 32)",
    )
    common.add_link(parser)
    common.add_traffic(parser)
    common.add_ethtool(parser)
    add(
        "-c",
        dest="command",
        metavar="COMMAND",
        help="a command of the guest's shell in place of a trial, as for `moderato shell`",
    )
    add(
        "--replay",
        type=files.input_file,
        action="append",
        default=[],
        metavar="FILE",
        help="what entered port 0 in a capture, in place of a trial; given again, port 1; or a "
        "recording of `moderato live`, which has its variant and machine",
    )
    add("--rewrite", dest="rewritten", action="store_true", help="as for `moderato replay`")
    add(
        "--from",
        dest="begin",
        type=arguments.cycle,
        metavar="CYCLE",
        help="the first cycle, counted from reset",
    )
    add(
        "--cycles",
        type=arguments.cycles,
        metavar="N",
        help=f"with --from: that many cycles (default: {CYCLES})",
    )
    add(
        "--at",
        dest="trigger",
        type=arguments.trigger,
        metavar="TRIGGER",
        help=f"one of {', '.join(kind.form(name) for name, kind in KINDS.items())} (default: {TRIGGER}; "
        f"with -c: {COMMANDS}); without :PORT, at either port",
    )
    add(
        "--nth",
        dest="number",
        type=arguments.occurrence,
        metavar="N",
        help="that time of the trigger (default: 1)",
    )
    add(
        "--every",
        type=arguments.occurrence,
        metavar="N",
        help="a window for each of N times of the trigger, from --nth on, in one file; fewer if it "
        "comes less often (default: 1)",
    )
    add(
        "--before",
        type=arguments.cycles,
        metavar="N",
        help=f"cycles before the trigger (default: {BEFORE})",
    )
    add("--after", type=arguments.cycles, metavar="N", help=f"cycles after it (default: {AFTER})")
    add(
        "--scope",
        dest="scopes",
        type=arguments.rooms,
        default=[],
        metavar="ROOM[,ROOM...]",
        help="all signals of these: mac0, mac0.rx, mac0.tx, mac0.queue0.rx, mac0.queue0.moderation, "
        "mac0.dma, cpu0, bus, dram and others (default: where stages meet, rings, moderation, "
        "interrupts)",
    )
    add(
        "--signals",
        dest="globs",
        type=files.text,
        action="append",
        default=[],
        metavar="GLOB",
        help="signals by name, such as '*_moderation0_*'; can be given several times",
    )
    add(
        "--output",
        type=files.wave_file,
        required=True,
        metavar="FILE.fst",
        help="the wave; FILE.gtkw and FILE.sucl are written next to it",
    )
    common.add_yes(parser)


def check(options):
    recorded = recording(options)
    if not recorded:
        common.variant(options)
    common.require_system(options)
    if options.command is not None:
        require_default(options, OF_TRIALS, "is for a trial, and -c is a command")
    if options.replay:
        if options.command is not None:
            raise UsageError(
                "-c is a command, and --replay plays what was captured; leave one of them out"
            )
        require_default(options, OF_TRIALS, "is for a trial, and --replay plays what was captured")
    elif options.rewritten:
        raise UsageError("--rewrite needs --replay; name a capture")
    if recorded:
        require_default(options, OF_RECORDINGS, "is for a new run, and --replay plays a recorded one")
    if len(options.replay) > (1 if recorded else 2):
        raise UsageError(
            "--replay plays a recording, or a capture for each of two ports; leave some out"
        )
    count = options.every or 1
    if count * (window_of(options) + 1) > arguments.MAX_CYCLES:
        raise UsageError(
            f"{count} such windows have more than {arguments.MAX_CYCLES} cycles; give less of --every, "
            "--before or --after"
        )
    if options.begin is None and options.cycles is not None:
        raise UsageError("--cycles goes with --from; give --after, or --from as well")
    if options.begin is not None and (options.trigger or options.number or options.every):
        raise UsageError("--from is a cycle and --at looks for one; leave one of them out")
    if options.begin is not None and (options.before or options.after) is not None:
        raise UsageError("--before and --after go with --at; give --cycles with --from")


def recording(options) -> bool:
    return any(map(is_recording, options.replay))


def require_default(options, names: dict[str, str], why: str):
    """Reject options that this run does not have."""
    from ..cli import parser  # which imports the commands

    for option, name in names.items():
        if getattr(options, name) != parser("wave").get_default(name):
            raise UsageError(f"{option} {why}; leave one of them out")


def window_of(options) -> int:
    """Cycles around the trigger."""
    return sum(
        default if given is None else given
        for given, default in ((options.before, BEFORE), (options.after, AFTER))
    )


def run(options) -> int:
    from ..wave.wave import Request, wave

    given = {
        "trigger": options.trigger or parse(TRIGGER if options.command is None else COMMANDS),
        "number": options.number or 1,
        "every": options.every or 1,
        "before": BEFORE if options.before is None else options.before,
        "after": AFTER if options.after is None else options.after,
        "cycles": options.cycles or CYCLES,
        "variant": options.variant if recording(options) else common.variant(options),
    }
    return wave(common.request(Request, options, **given))
