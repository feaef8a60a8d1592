# SPDX-License-Identifier: BSD-2-Clause
"""Flash, boot, check and measure a real board."""

import argparse

from moderato.boards import BOARDS, SIMULATED, WITHOUT_LINUX, WITHOUT_PAIR

from ..board.findings import PARTS, SELF_TEST
from ..show.errors import UsageError
from . import arguments, common, files

EXAMPLES = (
    "flash --board versa_ecp5 --dry-run",
    "selftest --board versa_ecp5 --serial /dev/ttyUSB1",
    "boot --board versa_ecp5 --serial /dev/ttyUSB1",
    "boot --board versa_ecp5 --serial /dev/ttyUSB1 --tftp --port0 eth1",
    "console --board versa_ecp5 --serial /dev/ttyUSB1",
    "check --board versa_ecp5 --serial /dev/ttyUSB1 --port0 eth1 --port1 eth2",
    "forward --board versa_ecp5 --serial /dev/ttyUSB1 --port0 eth1 --port1 eth2 --load 2",
    "rfc2544 --board versa_ecp5 --serial /dev/ttyUSB1 --port0 eth1 --port1 eth2",
    "simulate -c './moderato board check $BOARD'",
    "simulate --bios -c './moderato board selftest $BOARD'",
)
ACTIONS = {
    "flash": "write the bitstream into the FPGA, or with --spi into its flash",
    "selftest": "load a program that tests each part without Linux; a cable connects both ports",
    "boot": "load the images over the serial line, or with --tftp through port 0",
    "console": "the board's console on this terminal, or with -c one command in its shell",
    "check": "look at each part of a booted board, with the ports that are named",
    "forward": "measure how it forwards, as the command of that name in simulation",
    "rfc2544": "find the highest rate without loss (RFC 2544, 26.1)",
    "report": "print what an issue needs, without names and addresses",
    "simulate": "run the simulated system as a board, for the others with --board simulated",
}
FAULTS = {
    "cable": "port 1 has no cable",
    "swapped": "the cables are swapped",
    "uart": "the UART loses an octet in 1000",
    "power": "power fails when the driver is loaded, once",
    "nic": "the interface at port 0 loses a frame in 4",
    "pause": "the interface at port 0 sends pause frames",
    "jumbo": "the interface at port 1 has a larger MTU",
    "dram": "with --bios: a word of the memory is always 0",
}
FAULTS_IN_BIOS = ("cable", "uart", "dram")
# The options that an action needs.
NEEDS = {
    "selftest": ("serial",),
    "boot": ("serial",),
    "console": ("serial",),
    "check": ("serial",),
    "forward": ("serial", "port0", "port1"),
    "rfc2544": ("serial", "port0", "port1"),
    "report": ("serial",),
}
WITHOUT_SHELL = ("flash", "selftest", "boot", "console")
ON_SIMULATED = ("selftest", "console", "check", "forward", "rfc2544", "report")
TIMEOUT = 10.0  # seconds without an octet from a board that is asked something


def options(parser):
    add = parser.add_argument
    add(
        "action",
        choices=ACTIONS,
        metavar="ACTION",
        help="; ".join(f"{name}: {text}" for name, text in ACTIONS.items()),
    )
    add(
        "--board",
        type=arguments.desk_board,
        metavar="NAME",
        help=f"{', '.join(BOARDS)}; simulated: of `simulate`",
    )
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
    add("--tftp", action="store_true", help="boot, selftest: serve the images at --port0")
    add(
        "-c",
        dest="command",
        metavar="COMMAND",
        help="console: run this, and end with its status; simulate: the same on this machine, where the "
        "board is connected, with $BOARD for the options that name it",
    )
    add(
        "--only",
        type=lambda text: text.split(","),
        default=[],
        metavar="PART[,PART...]",
        help="check, selftest: these parts, as their lines name them, such as frames,timer",
    )
    add(
        "--bios",
        action="store_true",
        help="simulate: the board waits in its boot loader for selftest; a cable connects its ports",
    )
    add(
        "--fault",
        choices=FAULTS,
        metavar="NAME",
        help="simulate: " + "; ".join(f"{name}: {text}" for name, text in FAULTS.items()),
    )
    add(
        "--variant",
        type=arguments.fast_list,
        default=["napi-tx-off"],
        metavar="V[,V...]",
        help="forward, rfc2544: as of the commands in simulation (default: napi-tx-off)",
    )
    common.add_frame_sizes(parser, 64, 512)
    add(
        "--load",
        dest="loads",
        type=arguments.loads,
        metavar="PERCENT[,...]",
        help="forward: of the line rate, offered to each port at once (default: 5)",
    )
    add(
        "--frames",
        type=arguments.frames,
        metavar="N",
        help="forward, rfc2544: offered to each port in a trial",
    )
    add(
        "--seconds",
        type=arguments.seconds,
        metavar="S",
        help="rfc2544: of a trial, if not --frames (default: 10; RFC 2544 has 60)",
    )
    add(
        "--resolution",
        type=arguments.resolution,
        metavar="PERCENT",
        help="rfc2544: of the rate (default: 1)",
    )
    add(
        "--link",
        dest="link_mbps",
        type=arguments.link,
        metavar="MBPS",
        help="line rate: 10, 100 or 1000 Mb/s (default: 1000, of the simulated board 100)",
    )
    common.add_json(parser)


def check(options):
    read = sorted(options.folder.iterdir()) if options.folder else []
    common.require_distinct(
        [(f"a file of --folder ({path.name})", path) for path in read], [("--json", options.json)]
    )
    if options.action == "simulate":
        if options.board:
            raise UsageError("simulate has a board of its own; leave --board out")
    elif options.board is None:
        raise UsageError(f"{options.action} needs --board; add it")
    elif options.board == SIMULATED and options.action not in ON_SIMULATED:
        raise UsageError(f"{options.action} needs an FPGA and its BIOS, which {SIMULATED} does not have")
    for name in NEEDS.get(options.action, ()):
        if getattr(options, name) is None:
            raise UsageError(f"{options.action} needs --{name}; add it")
    for name, action in (
        ("spi", "flash"),
        ("adapter", "flash"),
        ("tftp", "boot, selftest"),
        ("command", "console, simulate"),
        ("fault", "simulate"),
        ("only", "check, selftest"),
        ("bios", "simulate"),
        ("loads", "forward"),
        ("frames", "forward, rfc2544"),
        ("seconds", "rfc2544"),
        ("resolution", "rfc2544"),
    ):
        if getattr(options, name) and options.action not in action.split(", "):
            said = {"command": "-c", "loads": "--load"}.get(name, f"--{name}")
            raise UsageError(f"{said} is for {action}; leave it out")
    parts = SELF_TEST if options.action == "selftest" else PARTS
    for name in options.only:
        if name not in parts:
            raise UsageError(f"there is no part {name!r}; there are: {', '.join(parts)}")
    if options.bios and options.fault and options.fault not in FAULTS_IN_BIOS:
        raise UsageError(f"--bios has the faults {', '.join(FAULTS_IN_BIOS)}; leave --bios out")
    if options.fault == "dram" and not options.bios:
        raise UsageError("--fault dram is for --bios; add it")
    if options.tftp and options.port0 is None:
        raise UsageError("--tftp needs --port0, the interface at which to serve; add it")
    if options.tftp and options.board == SIMULATED:
        raise UsageError(f"{SIMULATED} has no network boot; leave --tftp out")
    if options.port0 is not None and options.port0 == options.port1:
        raise UsageError("--port0 and --port1 name the same interface; each port has its own")
    if options.json and options.action not in ("check", "selftest", "forward", "rfc2544"):
        raise UsageError(
            f"--json is for check, selftest, forward and rfc2544; leave it out of {options.action}"
        )
    if options.action in ("forward", "rfc2544") and options.board in WITHOUT_PAIR:
        raise UsageError(f"{options.action} needs two ports, and {options.board} has one")
    if options.port1 is not None and options.board in WITHOUT_PAIR:
        raise UsageError(f"{options.board} has one port; leave --port1 out")
    if options.action not in WITHOUT_SHELL and options.board in WITHOUT_LINUX:
        raise UsageError(
            f"{options.board} has too little memory for Linux, and {options.action} asks Linux"
        )


def run(options: argparse.Namespace) -> int:
    from ..board import built, simulate

    if options.action == "simulate":
        return simulate.simulate(options.command, options.fault, options.bios)
    made = built.simulated() if options.board == SIMULATED else built.read(options.board, options.folder)
    return globals()[f"_{options.action}"](options, made)


def _flash(options, made) -> int:
    from ..board import built, flash

    built.require_commit(made)
    return flash.flash(made, options.spi, options.adapter, options.dry_run)


def _boot(options, made) -> int:
    from ..board import boot, built

    built.require_commit(made)
    interface = options.port0 if options.tftp else None
    return boot.boot(made, options.serial, interface, options.dry_run)


def _selftest(options, made) -> int:
    from ..board import built, selftest

    built.require_commit(made)
    interface = options.port0 if options.tftp else None
    if options.dry_run:
        selftest.dry_run(made, options.serial, interface)
        return 0
    return _print(options, selftest.self_test(made, options.serial, interface, options.only))


def _console(options, made) -> int:
    from ..board import console

    if options.dry_run:
        print(f"open {options.serial} at {made.soc['baud_rate']} baud")
        return 0
    if options.command is None:
        return console.console(options.serial, made.soc["baud_rate"])
    return console.run(options.serial, made.soc["baud_rate"], options.command, TIMEOUT * made.slow)


def _check(options, made) -> int:
    from ..board import check

    if options.dry_run:
        return _touches(options, made)
    with _desk(options, made) as desk:
        return _print(options, check.check(desk, options.only))


def _print(options, each_found) -> int:
    """Print findings when they come."""
    from ..board import findings
    from ..show import outputs

    found = []
    for each in each_found:
        print(each.line, flush=True)
        found.append(each)
    if options.json:
        outputs.write_json(options.json, [each.as_json() for each in found])
    return findings.status(found)


def _forward(options, made) -> int:
    from ..board import forward

    if options.dry_run:
        return _touches(options, made)
    with _desk(options, made) as desk:
        return forward.forward(_trials(options, made), desk)


def _rfc2544(options, made) -> int:
    from ..board import throughput

    if options.dry_run:
        return _touches(options, made)
    with _desk(options, made) as desk:
        return throughput.rfc2544(
            _trials(options, made), options.resolution or 1.0, options.seconds or 10.0, desk
        )


def _trials(options, made):
    from ..measure.forward import Request

    return Request(
        options.variant,
        options.frame_sizes,
        options.loads or [5],
        options.frames,
        options.link_mbps or (100 if made.simulated else 1000),
        options.json,
    )


def _report(options, made) -> int:
    from ..board import report

    if options.dry_run:
        return _touches(options, made)
    with _desk(options, made) as desk:
        print(report.report(desk))
    return 0


def _desk(options, made):
    from ..board import desk

    return desk.opened(made, options.serial, _interfaces(options), TIMEOUT)


def _interfaces(options) -> dict[int, str]:
    """The named ones, by port."""
    named = {port: getattr(options, f"port{port}") for port in range(2)}
    return {port: name for port, name in named.items() if name is not None}


def _touches(options, made) -> int:
    print(f"open {options.serial} at {made.soc['baud_rate']} baud, and type at the shell")
    for port, name in _interfaces(options).items():
        print(f"send and receive frames at {name}, for port {port}; change nothing of it")
    return 0
