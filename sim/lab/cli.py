# SPDX-License-Identifier: BSD-2-Clause
"""The command line: `moderato forward`, `replay`, `shell` and `bench`."""

import argparse
import signal
import sys
from collections.abc import Callable

from moderato.soc.toolchain.cache import BuildError

from . import arguments
from .errors import LabError, UsageError
from .variants import VARIANTS


class Parser(argparse.ArgumentParser):
    """Refuses with one line instead of a page of usage."""

    def error(self, message):
        raise UsageError(f"{message}; see `{self.prog} --help`")


def main(words: list[str] | None = None) -> int:
    """Run one command; returns the exit status: 0, 1 for a failure, 2 for a wrong command."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends like Ctrl-C, leaving nothing
    try:
        options = parser().parse_args(words)
        return options.run(options)
    except (LabError, BuildError) as error:
        print(f"moderato: {error}", file=sys.stderr)
        return getattr(error, "status", 1)
    except OSError as error:
        print(f"moderato: {error.filename or 'a file'}: {error.strerror}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("moderato: stopped", file=sys.stderr)
        return 130


# Commands: each imports its part only when it runs, so that a wrong command is refused at once ------

def _forward(options) -> int:
    from .forward import forward
    return forward(options.variant, options.frame_size, options.load, options.frames, options.link,
                   options.json, options.pcap)


def _replay(options) -> int:
    from .replay import replay
    return replay(options.variant, [options.in0, options.in1], [options.out0, options.out1],
                  options.json)


def _shell(options) -> int:
    from .shell import shell
    return shell(options.variant, options.command)


def _bench(options) -> int:
    from .bench import bench
    return bench()


# Options ------------------------------------------------------------------------------------------

def parser() -> Parser:
    top = Parser(prog="moderato", allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter,
                 description="Linux on a simulated SoC forwards Ethernet frames between two Moderato "
                             "ports;\nmeasures what each interrupt strategy costs.",
                 epilog="`setup` and `test` are commands of the launcher: ./moderato setup, ./moderato test.")
    commands = top.add_subparsers(metavar="COMMAND", required=True)

    sub = _command(commands, "forward", _forward, "measure how Linux forwards, a table row per trial")
    sub.add_argument("--variant", type=arguments.variant_list, default=list(VARIANTS), metavar="V[,V...]",
                     help=f"all (default), or some of {', '.join(VARIANTS)}")
    sub.add_argument("--frame-size", type=arguments.frame_sizes, default=[64, 512], metavar="N[,N...]",
                     help="octets, destination address to FCS (default: 64,512)")
    sub.add_argument("--load", type=arguments.load, default=100, metavar="PERCENT",
                     help="of the line rate, offered to each port at once (default: 100)")
    sub.add_argument("--frames", type=arguments.frames, metavar="N",
                     help="offered to each port (default: as many as the load offers in the default time)")
    sub.add_argument("--link", type=arguments.link, default=100, metavar="MBPS",
                     help="line rate: 10, 100 (default) or 1000 Mb/s")
    sub.add_argument("--json", type=arguments.output_file, metavar="FILE", help="also write every figure here")
    sub.add_argument("--pcap", type=arguments.output_folder, metavar="DIR",
                     help="also write every frame of each trial here")

    sub = _command(commands, "replay", _replay, "send captured frames through the guest, capture what leaves it")
    sub.add_argument("--variant", type=arguments.variant, required=True, metavar="V", help=", ".join(VARIANTS))
    sub.add_argument("--in0", type=arguments.input_file, required=True, metavar="PCAP", help="frames sent to port 0")
    sub.add_argument("--in1", type=arguments.input_file, metavar="PCAP", help="frames sent to port 1")
    sub.add_argument("--out0", type=arguments.output_file, required=True, metavar="PCAP", help="what left port 0")
    sub.add_argument("--out1", type=arguments.output_file, required=True, metavar="PCAP", help="what left port 1")
    sub.add_argument("--json", type=arguments.output_file, metavar="FILE", help="also write every figure here")

    sub = _command(commands, "shell", _shell, "the guest's console, or the output and status of one command")
    sub.add_argument("--variant", type=arguments.variant, metavar="V", help=", ".join(VARIANTS))
    sub.add_argument("-c", dest="command", metavar="COMMAND", help="run this and end with its status")

    _command(commands, "bench", _bench, "speed of the simulation, also against stock litex_sim")
    return top


def _command(commands, name: str, run: Callable, summary: str) -> Parser:
    sub = commands.add_parser(name, help=summary, description=summary, allow_abbrev=False)
    sub.set_defaults(run=run)
    return sub


if __name__ == "__main__":
    sys.exit(main())
