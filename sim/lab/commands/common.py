# SPDX-License-Identifier: BSD-2-Clause
"""Options that several commands share."""

import argparse
import dataclasses
import os
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path

from moderato.soc.linux.kernel import KERNELS, NORMAL, TICKS, XDP, Choice
from moderato.soc.linux.kernel import TIME as CLOCKED

from ..measure.traffic import Traffic
from ..run.store import Where
from ..run.system import (
    COMMON,
    HARTS,
    IDEAL,
    IPI,
    MEMORIES,
    NOMINAL_MHZ,
    QUEUES,
    SPREADS,
    THREADED,
    System,
)
from ..run.variants import (
    BEYOND,
    FAST,
    FLOWS,
    KNOWN,
    LITEETH,
    MODERATO,
    NICS,
    OFFLOAD,
    PROGRAMS,
    RX_INTERRUPT,
    TIME,
    TWO_QUEUES,
    VARIANTS,
)
from ..show import outputs
from ..show.errors import UsageError
from . import arguments, files

NAMES = ", ".join((*VARIANTS, *BEYOND))


def add_machine(
    parser: ArgumentParser,
    several: bool = False,
    kernel: bool = True,
    offload: bool = True,
    fast: bool = False,
    without: str = "needed but with --nic liteeth",
):
    """Add options of the system: variant (or `several`), NIC, and `kernel` if there is a choice.

    offload: whether NICs with a second queue are allowed; reports know only variants.
    fast: whether variants that bypass Linux' stack are allowed.
    without: the part of the help about a missing --variant.
    """
    also = f"; past the stack, with --kernel {XDP} for all of them: {', '.join(FAST)}"
    if several:
        known = arguments.fast_list if fast else arguments.variant_list
        parser.add_argument(
            "--variant",
            type=known,
            metavar="V[,V...]",
            help=f"all (default: {', '.join(VARIANTS)}), or some of these and "
            + ", ".join(BEYOND)
            + also * fast,
        )
    else:
        parser.add_argument(
            "--variant",
            type=arguments.any_variant if fast else arguments.variant,
            metavar="V",
            help=NAMES + also * fast + f" ({without})",
        )
    parser.add_argument(
        "--nic",
        choices=[nic for nic in NICS if offload or nic not in TWO_QUEUES],
        default="moderato",
        help="offload: Moderato with all its options; time: Moderato whose frames leave at their times, "
        f"with --kernel {CLOCKED}; "
        * offload
        + "flows: Moderato, and a table of flows that the MACs forward; "
        "liteeth: with LiteEth's MAC and the kernel's own driver, for "
        "comparison; it has no variants (default: moderato)",
    )
    if kernel:
        parser.add_argument(
            "--kernel",
            choices=list(KERNELS),
            default=NORMAL.name,
            metavar="K",
            help="debug: with the kernel's own checks, many times slower; "
            "netfilter: with connection tracking built in; conntrack: with it switched on; "
            "ptp: with clocks of NICs; router: xdp, with translated "
            "addresses, VLAN interfaces and bridges; "
            "stock: Debian's, without our patch; "
            "traced: with the kernel's tracing, which tcp and receiver "
            "switch on; time: ptp, with qdiscs of times (--nic time selects it); "
            "vlan: with VLAN interfaces; xdp: with BPF "
            "and the flow table "
            "(default: normal)",
        )
        parser.add_argument(
            "--hz",
            type=int,
            choices=TICKS,
            default=NORMAL.hz,
            help=f"rate of the kernel's tick (default: {NORMAL.hz})",
        )
    else:
        parser.set_defaults(kernel=NORMAL.name, hz=NORMAL.hz)
    parser.add_argument(
        "--harts",
        type=int,
        choices=HARTS,
        default=1,
        help="number of harts, with a kernel for that many (default: 1)",
    )
    parser.add_argument(
        "--spread",
        choices=list(SPREADS),
        help="how two harts share the work: "
        + "; ".join(f"{name}: {what}" for name, what in SPREADS.items())
        + f" (default: {COMMON})",
    )

    parser.add_argument(
        "--memory",
        choices=list(MEMORIES),
        default=IDEAL,
        help="; ".join(f"{name}: {what}" for name, what in MEMORIES.items()) + f" (default: {IDEAL})",
    )
    parser.add_argument(
        "--clock",
        type=arguments.clock,
        default=NOMINAL_MHZ,
        metavar="MHZ",
        help=f"clock of the SoC (default: {NOMINAL_MHZ})",
    )


def add_frame_size(parser: ArgumentParser):
    parser.add_argument(
        "--frame-size",
        dest="frame_bytes",
        type=arguments.frame_size,
        default=64,
        metavar="N",
        help="octets, destination address to FCS (default: 64)",
    )


def add_frame_sizes(parser: ArgumentParser, *sizes: int):
    parser.add_argument(
        "--frame-size",
        dest="frame_sizes",
        type=arguments.frame_sizes,
        default=list(sizes),
        metavar="N[,N...]",
        help=f"octets, destination address to FCS (default: {','.join(map(str, sizes))})",
    )


def add_load(parser: ArgumentParser):
    parser.add_argument(
        "--load",
        dest="load_percent",
        type=arguments.load,
        default=100,
        metavar="PERCENT",
        help="of the line rate, offered to each port at once (default: 100)",
    )


def add_loads(parser: ArgumentParser):
    parser.add_argument(
        "--load",
        dest="loads",
        type=arguments.loads,
        default=[100],
        metavar="PERCENT[,...]",
        help="of the line rate, offered to each port at once (default: 100)",
    )


def add_yes(parser: ArgumentParser):
    parser.add_argument(
        "--yes", dest="patient", action="store_true", help="start even if it takes hours"
    )


def add_udp_echo(parser: ArgumentParser):
    parser.add_argument(
        "--udp-echo",
        action="store_true",
        help="the tester returns UDP datagrams to port 7, as it always does pings",
    )


def add_link(parser: ArgumentParser):
    parser.add_argument(
        "--link",
        dest="link_mbps",
        type=arguments.link,
        default=100,
        metavar="MBPS",
        help="line rate: 10, 100 (default) or 1000 Mb/s",
    )


def add_traffic(parser: ArgumentParser):
    parser.add_argument(
        "--streams",
        type=arguments.streams,
        default=1,
        metavar="N",
        help="UDP streams into each port, which take turns (default: 1)",
    )
    parser.add_argument(
        "--flows", dest="streams", type=arguments.streams, default=1, help=argparse.SUPPRESS
    )
    parser.add_argument(
        "--one-way", action="store_true", help="frames enter at port 0 only, and leave at port 1"
    )


def add_ethtool(parser: ArgumentParser):
    parser.add_argument(
        "--ethtool",
        type=arguments.ethtool,
        action="append",
        default=[],
        metavar="'ARGS'",
        help="a setting of your own, run in the guest for both "
        "ports after the variant was chosen: ethtool's words without the "
        "interface, such as '-C rx-usecs 50'; can be given several times",
    )


def add_json(parser: ArgumentParser):
    parser.add_argument(
        "--json",
        type=files.output_file,
        metavar="FILE",
        help="also write every figure here; - is standard output",
    )


def add_runner(parser: ArgumentParser):
    """Where trials run whose records are kept, and the file of records."""
    parser.add_argument(
        "--scheduler",
        type=arguments.scheduler,
        metavar="ADDRESS",
        help="a dask scheduler; its workers run the trials (default: this machine's cores)",
    )
    parser.add_argument(
        "--results",
        type=files.kept_file,
        metavar="FILE",
        help="keep the trials here instead of in the build cache",
    )


Named = tuple[str, Path | None]  # an option, and its file or folder


def require_distinct(inputs: Sequence[Named], results: Sequence[Named]):
    """Reject a result that would replace an input or another result, or be written to the same pipe or
    descriptor as another one."""
    known = []
    for each in (*inputs, *results):
        name, path = each
        if path is None or path.is_char_device() and outputs.descriptor(path) is None:
            continue  # /dev/null accepts several
        for other, earlier in known if each in results else []:
            if same(path, earlier):
                raise UsageError(f"{name} and {other} are the same file or folder, {path}; name another")
        known.append((name, path))


def same(one: Path, other: Path) -> bool:
    """Whether two paths lead to the same file, even if it does not exist yet."""
    numbers = [outputs.descriptor(path) for path in (one, other)]
    if any(number is not None for number in numbers):
        return numbers[0] == numbers[1]
    resolved = os.path.realpath(one) == os.path.realpath(other)
    return resolved or one.exists() and other.exists() and one.samefile(other)


def nic(options) -> str:
    """The chosen NIC, or the NIC with flows if the variant needs it."""
    if "offload" not in _named(options):
        return options.nic
    if options.nic not in (MODERATO, FLOWS):
        raise UsageError(
            f"--variant offload needs --nic {FLOWS} and selects it; leave --nic {options.nic} out"
        )
    return FLOWS


def kernel(options) -> str:
    """The chosen kernel, or the kernel that a variant needs to bypass the stack."""
    chosen = [name for name in _named(options) if name in FAST]
    if not chosen:
        timed = options.nic == TIME and options.kernel == NORMAL.name
        return CLOCKED if timed else options.kernel
    if options.kernel != NORMAL.name and not Choice(options.kernel).xdp:
        raise UsageError(
            f"--variant {chosen[0]} needs --kernel {XDP} and selects it; leave "
            f"--kernel {options.kernel} out"
        )
    programs = [name for name in chosen if name in PROGRAMS]
    if programs and options.spread == IPI:
        raise UsageError(
            f"--spread {IPI} polls a ring on two harts, --variant {programs[0]} on one; choose another"
        )
    return XDP if options.kernel == NORMAL.name else options.kernel


def system(options) -> System:
    if options.harts == 1 and options.spread:
        raise UsageError("--spread needs several harts; add --harts 2, or leave it out")
    return System(
        nic(options),
        Choice(kernel(options), options.hz),
        options.harts,
        options.spread or COMMON,
        tuple(getattr(options, "ethtool", ())),
        options.memory,
        options.clock,
    )


def require_system(options):
    """Reject options of the system that exclude each other."""
    variants(options)
    system(options)


def request(study: type, options, **more):
    """A study's request, a dataclass. Options fill the fields with their names; `more` has precedence.

    A field without an option keeps its default.
    """
    given = vars(options) | {"system": system, "variants": variants, "traffic": traffic, "where": where}
    made = {}
    for name in (field.name for field in dataclasses.fields(study) if field.name not in more):
        value = given.get(name)
        value = value(options) if callable(value) else value
        if value is not None:
            made[name] = value
    return study(**made, **more)


def traffic(options) -> Traffic:
    return Traffic(options.streams, options.one_way, system(options).in_order)


def where(options) -> Where:
    return Where(options.scheduler, options.results)


def variants(options) -> list[str]:
    """The chosen variants, by default all of the NIC."""
    if options.variant and options.nic == LITEETH:
        raise UsageError(
            "--variant is a strategy of Moderato's driver, LiteEth's has only one; "
            "leave --variant or --nic out"
        )
    chosen = _named(options) or NICS[options.nic]
    if options.spread == QUEUES and options.nic not in TWO_QUEUES:
        raise UsageError(f"--spread {QUEUES} needs a MAC with two queues: add --nic {OFFLOAD}")
    if options.spread in (IPI, THREADED):
        require_polled(chosen, options.spread)
    return chosen


def _named(options) -> list[str]:
    """The variants that the user names; some commands take one, others several."""
    return [options.variant] if isinstance(options.variant, str) else options.variant or []


def require_polled(names: Sequence[str], spread: str):
    """Reject a way to spread polls if a variant does not poll."""
    if LITEETH in names and spread == IPI:
        raise UsageError(f"--spread {spread} needs Moderato's driver; leave --nic {LITEETH} out")
    without = [name for name in names if name in KNOWN and KNOWN[name].rx == RX_INTERRUPT]
    if without:
        raise UsageError(
            f"--spread {spread} needs polling, and {', '.join(without)} receive in "
            "interrupts; choose a --variant with NAPI"
        )


def variant(options) -> str:
    """The chosen variant. Rejects a missing one if there is a choice."""
    if options.nic != LITEETH and not options.variant:
        raise UsageError(f"a --variant is needed (known: {NAMES})")
    chosen, *_ = variants(options)
    return chosen
