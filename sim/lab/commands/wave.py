# SPDX-License-Identifier: BSD-2-Clause
"""A waveform of any cycles of a trial or a command."""

from ..show.errors import UsageError
from . import arguments, common, files

EXAMPLES = (
    "--variant napi --output frame.fst",
    "--variant napi --frames 600 --at rx-drop-ring:0 --output drop.fst",
    "--variant napi --at function:moderato_napi_poll --scope mac0.queue0 --output p.fst",
    "--variant napi -c 'ping -c 1 198.18.0.2' --output ping.fst",
)
OF_TRIALS = {
    "--frame-size": "frame_bytes",
    "--load": "load_percent",
    "--frames": "frames",
    "--link": "link_mbps",
    "--streams": "streams",
    "--one-way": "one_way",
}
COMMANDS = "rx-completed"  # the default trigger of a command: its frames are unknown
TRIGGER, BEFORE, AFTER, CYCLES = "frame-in:0", 1_000, 20_000, 20_000


def options(parser):
    common.add_machine(parser)
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
        help=f"KIND:PORT or function:NAME (default: {TRIGGER}; with -c: {COMMANDS}); "
        f"kinds: {', '.join(arguments.TRIGGERS)}; without :PORT, at either port",
    )
    add(
        "--nth",
        dest="number",
        type=arguments.occurrence,
        metavar="N",
        help="that time of the trigger in the trial (default: 1)",
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
    common.variant(options)
    common.require_system(options)
    if options.command is not None:
        require_trial_s(options)
    if options.begin is None and options.cycles is not None:
        raise UsageError("--cycles goes with --from; give --after, or --from as well")
    if options.begin is not None and (options.trigger or options.number):
        raise UsageError("--from is a cycle and --at looks for one; leave one of them out")
    if options.begin is not None and (options.before or options.after) is not None:
        raise UsageError("--before and --after go with --at; give --cycles with --from")


def require_trial_s(options):
    """Reject options of a trial for a command."""
    from ..cli import parser  # which imports the commands

    for option, name in OF_TRIALS.items():
        if getattr(options, name) != parser("wave").get_default(name):
            raise UsageError(f"{option} is for a trial, and -c is a command; leave one of them out")


def run(options) -> int:
    from ..wave.wave import Request, wave

    given = {
        "trigger": options.trigger or (TRIGGER if options.command is None else COMMANDS),
        "number": options.number or 1,
        "before": BEFORE if options.before is None else options.before,
        "after": AFTER if options.after is None else options.after,
        "cycles": options.cycles or CYCLES,
    }
    return wave(common.request(Request, options, variant=common.variant(options), **given))
