# SPDX-License-Identifier: BSD-2-Clause
"""Flash, boot, check and measure a real board."""

import argparse

from moderato.boards import BOARDS, WITHOUT_LINUX, WITHOUT_PAIR

from ..show.errors import UsageError
from . import arguments, common, files

EXAMPLES = (
    "flash --board versa_ecp5 --dry-run",
    "boot --board versa_ecp5 --serial /dev/ttyUSB1",
    "boot --board versa_ecp5 --serial /dev/ttyUSB1 --tftp --port0 eth1",
    "console --board versa_ecp5 --serial /dev/ttyUSB1",
    "check --board versa_ecp5 --serial /dev/ttyUSB1 --port0 eth1 --port1 eth2",
    "forward --board versa_ecp5 --serial /dev/ttyUSB1 --port0 eth1 --port1 eth2 --load 2",
)
ACTIONS = {
    "flash": "write the bitstream into the FPGA, or with --spi into its flash",
    "boot": "load the images over the serial line, or with --tftp through port 0",
    "console": "the board's console on this terminal, or with -c one command in its shell",
    "check": "look at each part of a booted board, with the ports that are named",
    "forward": "measure how it forwards, as the command of that name in simulation",
    "report": "print what an issue needs, without names and addresses",
}
# The options that an action needs.
NEEDS = {
    "boot": ("serial",),
    "console": ("serial",),
    "check": ("serial",),
    "forward": ("serial", "port0", "port1"),
    "report": ("serial",),
}
TIMEOUT = 10.0  # seconds without an octet from a board that is asked something
SIMULATED = 60  # times as long: its seconds are longer


def options(parser):
    add = parser.add_argument
    add(
        "action",
        choices=ACTIONS,
        metavar="ACTION",
        help="; ".join(f"{name}: {text}" for name, text in ACTIONS.items()),
    )
    add("--board", type=arguments.board, required=True, metavar="NAME", help=", ".join(BOARDS))
    add("--serial", type=files.text, metavar="DEV", help="the board's console, such as /dev/ttyUSB1")
    for port in range(2):
        add(
            f"--port{port}",
            type=files.text,
            metavar="IF",
            help=f"the interface of this machine that is connected to the board's port {port}",
        )
    add(
        "--folder",
        type=files.input_folder,
        metavar="DIR",
        help="of the bitstream and its images (default: NAME-moderato in the current one)",
    )
    add(
        "--dry-run",
        action="store_true",
        help="print what would be done, and touch neither board nor interfaces",
    )
    add("--spi", action="store_true", help="flash: into the SPI flash, which the FPGA reads at power-on")
    add(
        "--adapter",
        type=files.text,
        metavar="CABLE",
        help="flash: a JTAG adapter that openFPGALoader knows",
    )
    add("--tftp", action="store_true", help="boot: serve the images at --port0")
    add("-c", dest="command", metavar="COMMAND", help="console: run this, and end with its status")
    add(
        "--variant",
        type=arguments.fast_list,
        default=["napi-tx-off"],
        metavar="V[,V...]",
        help="forward: as of the command in simulation (default: napi-tx-off)",
    )
    common.add_frame_sizes(parser, 64, 512)
    common.add_loads(parser)
    parser.set_defaults(loads=[5])
    add("--frames", type=arguments.frames, metavar="N", help="forward: offered to each port")
    common.add_link(parser)
    parser.set_defaults(link_mbps=1000)
    common.add_json(parser)
    add(
        "--simulated",
        action="store_true",
        help="the board is a simulation, whose seconds take longer than this machine's",
    )


def check(options):
    read = sorted(options.folder.iterdir()) if options.folder else []
    common.require_distinct(
        [(f"a file of --folder ({path.name})", path) for path in read], [("--json", options.json)]
    )
    for name in NEEDS.get(options.action, ()):
        if getattr(options, name) is None:
            raise UsageError(f"{options.action} needs --{name}; add it")
    for name, action in (
        ("spi", "flash"),
        ("adapter", "flash"),
        ("tftp", "boot"),
        ("command", "console"),
    ):
        if getattr(options, name) and options.action != action:
            said = "-c" if name == "command" else f"--{name}"
            raise UsageError(f"{said} is for {action}; leave it out")
    if options.tftp and options.port0 is None:
        raise UsageError("--tftp needs --port0, the interface at which to serve; add it")
    if options.port0 is not None and options.port0 == options.port1:
        raise UsageError("--port0 and --port1 name the same interface; each port has its own")
    if options.json and options.action not in ("check", "forward"):
        raise UsageError(f"--json is for check and forward; leave it out of {options.action}")
    if options.action == "forward" and options.board in WITHOUT_PAIR:
        raise UsageError(f"forward needs two ports, and {options.board} has one")
    if options.action not in ("flash", "boot", "console") and options.board in WITHOUT_LINUX:
        raise UsageError(
            f"{options.board} has too little memory for Linux, and {options.action} asks Linux"
        )


def run(options: argparse.Namespace) -> int:
    from ..board import built

    made = built.read(options.board, options.folder)
    return globals()[f"_{options.action}"](options, made)


def _flash(options, made) -> int:
    from ..board import built, flash

    built.require_commit(made)
    return flash.flash(made, options.spi, options.adapter, options.dry_run)


def _boot(options, made) -> int:
    from ..board import boot, built

    built.require_commit(made)
    interface = options.port0 if options.tftp else None
    return boot.boot(made, options.serial, interface, options.dry_run, _slow(options))


def _console(options, made) -> int:
    from ..board import console

    if options.dry_run:
        print(f"open {options.serial} at {made.soc['baud_rate']} baud")
        return 0
    if options.command is None:
        return console.console(options.serial, made.soc["baud_rate"])
    return console.run(options.serial, made.soc["baud_rate"], options.command, TIMEOUT * _slow(options))


def _check(options, made) -> int:
    from ..board import check, findings
    from ..show import outputs

    if options.dry_run:
        return _touches(options, made)
    found = []
    with _desk(options, made) as desk:
        for each in check.check(desk):
            print(each.line, flush=True)
            found.append(each)
    if options.json:
        outputs.write_json(options.json, [each.as_json() for each in found])
    return findings.status(found)


def _forward(options, made) -> int:
    from ..board import forward
    from ..measure.forward import Request

    if options.dry_run:
        return _touches(options, made)
    wanted = Request(
        options.variant,
        options.frame_sizes,
        options.loads,
        options.frames,
        options.link_mbps,
        options.json,
    )
    with _desk(options, made) as desk:
        return forward.forward(wanted, desk)


def _report(options, made) -> int:
    from ..board import report

    if options.dry_run:
        return _touches(options, made)
    with _desk(options, made) as desk:
        print(report.report(desk))
    return 0


def _desk(options, made):
    from ..board import desk

    return desk.opened(made, options.serial, _interfaces(options), TIMEOUT, _slow(options))


def _interfaces(options) -> dict[int, str]:
    """The named ones, by port."""
    named = {port: getattr(options, f"port{port}") for port in range(2)}
    return {port: name for port, name in named.items() if name is not None}


def _touches(options, made) -> int:
    print(f"open {options.serial} at {made.soc['baud_rate']} baud, and type at the shell")
    for port, name in _interfaces(options).items():
        print(f"send and receive frames at {name}, for port {port}; change nothing of it")
    return 0


def _slow(options) -> float:
    """Seconds of this machine in a second of the board, at most."""
    return SIMULATED if options.simulated else 1
