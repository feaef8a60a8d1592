# SPDX-License-Identifier: BSD-2-Clause
"""The command line: one function and its options for each command."""

import argparse
import signal
import sys
from collections.abc import Callable

from moderato.boards import BOARDS
from moderato.soc.linux.kernel import KERNELS, NORMAL
from moderato.soc.toolchain.cache import BuildError

from . import arguments
from .errors import LabError, UsageError
from .variants import LITEETH, NICS, VARIANTS


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


# Commands -----------------------------------------------------------------------------------------
# Each imports its part when it runs, so that a wrong command is refused at once.

def _forward(options) -> int:
    from .forward import forward
    return forward(_variants(options), options.frame_size, options.load, options.frames,
                   options.link, options.json, options.pcap, options.nic, options.kernel)


def _rfc2544(options) -> int:
    from .rfc2544.command import rfc2544
    return rfc2544(options.test, _variants(options), options.frame_size, options.load,
                   options.phases, options.resolution, options.link, options.scheduler,
                   options.results, options.nic)


def _report(options) -> int:
    from .report.command import report
    return report(options.results, options.output, options.figures, options.markdown,
                  options.profiles)


def _results(options) -> int:
    from .published import results
    return results()


def _replay(options) -> int:
    from .replay import replay
    return replay(_variant(options), [options.in0, options.in1], [options.out0, options.out1], options.json,
                  options.nic, options.kernel)


def _shell(options) -> int:
    from .shell import shell
    _variants(options)
    return shell(options.variant, options.command, options.nic, options.kernel)


def _variants(options) -> list[str]:
    """The chosen variants; without a choice all that the NIC has."""
    if not options.variant:
        return NICS[options.nic]
    if options.nic == LITEETH:
        raise UsageError("--variant is a strategy of Moderato's driver, LiteEth's has only one; "
                         "leave --variant or --nic out")
    return [options.variant] if isinstance(options.variant, str) else options.variant


def _variant(options) -> str:
    """The one variant that has to be chosen, if there is a choice."""
    if options.nic != LITEETH and not options.variant:
        raise UsageError(f"a --variant is needed (known: {', '.join(VARIANTS)})")
    variant, *_ = _variants(options)
    return variant


def _profile(options) -> int:
    from .profile import DEFAULT_SECONDS, profile
    return profile(_variants(options), options.frame_size, options.load,
                   options.seconds or DEFAULT_SECONDS, options.link, options.folded,
                   options.flame_graph, options.json, options.nic, options.kernel)


def _timeline(options) -> int:
    from .timeline import timeline
    return timeline(_variant(options), options.frame_size, options.frames, options.link,
                    options.output, options.nic, options.kernel)


def _bench(options) -> int:
    from .bench import bench
    return bench()


def _bitstream(options) -> int:
    from moderato.boards.command import bitstream
    return bitstream(options.board, options.nic, options.seed, options.output)


# Options ------------------------------------------------------------------------------------------

def parser() -> Parser:
    top = Parser(prog="moderato", allow_abbrev=False, description=(
        "Linux on a simulated SoC forwards Ethernet frames between two Moderato ports; this "
        "measures what each interrupt strategy costs."),
        epilog="The launcher adds two commands: ./moderato setup, ./moderato test.")
    commands = top.add_subparsers(metavar="COMMAND", required=True)
    names = ", ".join(VARIANTS)

    add = _command(commands, "forward", _forward, "measure how Linux forwards; prints a table")
    add("--variant", type=arguments.variant_list, metavar="V[,V...]",
        help=f"all (default), or some of {names}")
    _add_nic(add)
    _add_kernel(add)
    add("--frame-size", type=arguments.frame_sizes, default=[64, 512], metavar="N[,N...]",
        help="octets, destination address to FCS (default: 64,512)")
    add("--load", type=arguments.load, default=100, metavar="PERCENT",
        help="of the line rate, offered to each port at once (default: 100)")
    add("--frames", type=arguments.frames, metavar="N",
        help="offered to each port (default: what the load gives in a fixed time)")
    _add_link(add)
    add("--json", type=arguments.output_file, metavar="FILE", help="also write every figure here")
    add("--pcap", type=arguments.output_folder, metavar="DIR",
        help="also write every frame of each trial here")

    add = _command(commands, "rfc2544", _rfc2544, "RFC 2544's tests; a trial is never run twice")
    add("--test", type=arguments.rfc2544_tests, default=["throughput", "latency"],
        metavar="T[,T...]", help="all, or some of " + ", ".join(arguments.RFC2544)
        + " (default: throughput,latency)")
    add("--variant", type=arguments.variant_list, metavar="V[,V...]",
        help=f"all (default), or some of {names}")
    _add_nic(add)
    add("--frame-size", type=arguments.frame_sizes,
        default=[64, 128, 256, 512, 896, 1024, 1280, 1518], metavar="N[,N...]",
        help="octets, destination address to FCS (default: 64,128,256,512,896,1024,1280,1518)")
    add("--load", type=arguments.loads, default=[100, 90, 80, 70, 60, 50, 40, 30, 20, 10],
        metavar="PERCENT[,...]", help="of the line rate, for `loss` (default: 100,90,...,10)")
    add("--phases", type=arguments.phases, default=1, metavar="N",
        help="repeat searches with so many phases between the two generators (default: 1)")
    add("--resolution", type=arguments.resolution, default=1.0, metavar="PERCENT",
        help="of the rate, to which a throughput is found (default: 1)")
    _add_link(add)
    add("--scheduler", type=arguments.scheduler, metavar="ADDRESS",
        help="of a dask scheduler whose workers run the trials (default: this machine's cores)")
    add("--results", type=arguments.output_file, metavar="FILE",
        help="keep the trials here instead of in the build cache")

    add = _command(commands, "report", _report, "tables and figures from rfc2544's trials, as HTML")
    add("--results", type=arguments.input_files, metavar="FILE[,FILE...]",
        help="the trials, .jsonl or .jsonl.gz (default: those in the build cache)")
    add("--output", type=arguments.output_file, default="report.html", metavar="FILE",
        help="default: report.html")
    add("--figures", type=arguments.output_folder, metavar="DIR",
        help="also write every figure here, as SVG and PNG")
    add("--markdown", type=arguments.output_file, metavar="FILE",
        help="also write every table here, as Markdown")
    add("--profiles", type=arguments.input_folder, metavar="DIR",
        help="what `moderato profile` wrote: *.json, *.svg, *.pftrace")

    _command(commands, "results", _results,
             "everything in docs/data, docs/tables.md and docs/figures anew (80 minutes)")

    add = _command(commands, "replay", _replay, "send captured frames through the guest")
    add("--variant", type=arguments.variant, metavar="V", help=names)
    _add_nic(add)
    _add_kernel(add)
    add("--in0", type=arguments.input_file, required=True, metavar="PCAP", help="enters port 0")
    add("--in1", type=arguments.input_file, metavar="PCAP", help="enters port 1")
    add("--out0", type=arguments.output_file, required=True, metavar="PCAP",
        help="what left port 0")
    add("--out1", type=arguments.output_file, required=True, metavar="PCAP",
        help="what left port 1")
    add("--json", type=arguments.output_file, metavar="FILE", help="also write every figure here")

    add = _command(commands, "shell", _shell, "the guest's console, or one command")
    add("--variant", type=arguments.variant, metavar="V", help=names)
    _add_nic(add)
    _add_kernel(add)
    add("-c", dest="command", metavar="COMMAND", help="run this and end with its status")

    add = _command(commands, "profile", _profile, "where the CPU's cycles go, per frame")
    add("--variant", type=arguments.variant_list, metavar="V[,V...]",
        help=f"all (default), or some of {names}")
    _add_nic(add)
    _add_kernel(add)
    add("--frame-size", type=arguments.frame_size, default=64, metavar="N",
        help="octets, destination address to FCS (default: 64)")
    add("--load", type=arguments.load, default=100, metavar="PERCENT",
        help="of the line rate, offered to each port at once (default: 100)")
    add("--seconds", type=arguments.seconds, metavar="S",
        help="of simulated time in which frames are offered (default: 0.1)")
    _add_link(add)
    add("--folded", type=arguments.output_file, metavar="FILE",
        help="also write each stack with its cycles here, as flamegraph.pl reads them")
    add("--flame-graph", type=arguments.output_file, metavar="FILE.svg",
        help="also write a flame graph here")
    add("--json", type=arguments.output_file, metavar="FILE", help="also write every figure here")

    add = _command(commands, "timeline", _timeline, "what happens while a burst is forwarded")
    add("--variant", type=arguments.variant, metavar="V", help=names)
    _add_nic(add)
    _add_kernel(add)
    add("--frame-size", type=arguments.frame_size, default=64, metavar="N",
        help="octets, destination address to FCS (default: 64)")
    add("--frames", type=arguments.frames, default=32, metavar="N",
        help="of the burst, at the minimum gap into each port at once (default: 32)")
    _add_link(add)
    add("--output", type=arguments.output_file, required=True, metavar="FILE",
        help="a trace for ui.perfetto.dev")

    _command(commands, "bench", _bench, "speed of the simulation, also against stock litex_sim")

    add = _command(commands, "bitstream", _bitstream, "build the SoC for an FPGA board")
    add("--board", type=arguments.board, required=True, metavar="NAME", help=", ".join(BOARDS))
    add("--nic", choices=list(NICS), default="moderato",
        help="liteeth: the same SoC with LiteEth's MACs, for comparison")
    add("--seed", type=arguments.seeds, default=[1], metavar="N[,N...]",
        help="of place and route; the fastest one gives the bitstream (default: 1)")
    add("--output", type=arguments.output_folder, metavar="DIR",
        help="a folder that is made anew (default: NAME-NIC in the current one)")
    return top


def _command(commands, name: str, run: Callable, summary: str) -> Callable:
    """Add a subcommand; returns the function that adds its options."""
    sub = commands.add_parser(name, help=summary, description=summary, allow_abbrev=False)
    sub.set_defaults(run=run)
    return sub.add_argument


def _add_nic(add: Callable):
    add("--nic", choices=list(NICS), default="moderato",
        help="liteeth: with LiteEth's MAC and the kernel's own driver, for comparison; "
             "it has no variants")


def _add_kernel(add: Callable):
    add("--kernel", choices=list(KERNELS), default=NORMAL,
        help="debug: with the kernel's own checks, many times slower (default: normal)")


def _add_link(add: Callable):
    add("--link", type=arguments.link, default=100, metavar="MBPS",
        help="line rate: 10, 100 (default) or 1000 Mb/s")


if __name__ == "__main__":
    sys.exit(main())
