# SPDX-License-Identifier: BSD-2-Clause
"""XDP, AF_XDP and the flow table on the debug kernel, in rounds like those of test_debug_kernel.py.

./moderato test linux-driver/tests/test_debug_fast_path.py -m slow -s
"""

import dataclasses

import pytest
from debug_guest import BUSY, Round
from test_debug_kernel import (
    CHANGES,
    TIMEOUT,
    chance,
    dropped,
    finish,
    nth,
    opened,
    prepare,
)
from test_xsk import HERE

from moderato.soc.linux import userspace

pytestmark = pytest.mark.slow

PORTS = "eth0 eth1"
OFF = f"xdp off {PORTS}"
PROGRAMS = {"by a map": f"ip neigh | xdp forward {PORTS}", "by routes": f"xdp fib {PORTS}"}
# Programs limit the MTU.
MTU = ("ip link set eth0 mtu 1400", "ip link set eth0 mtu 1500")
SWAPS = (*CHANGES["rings"], *MTU, *CHANGES["down and up"], *CHANGES["statistics and filters"])
FRAMES = 500  # enough that some arrive after each of the commands, which take 900 M cycles

SOCKETS = "xdp /tmp/sockets.o eth0"
END = "kill $(cat /tmp/pid); while kill -0 $(cat /tmp/pid); do sleep 0.01; done"


def owner(words: str) -> str:
    """Start xsk in the background, with its socket."""
    return f"(/tmp/xsk {words} > /tmp/xsk.said 2>&1 & echo $! > /tmp/pid); sleep 0.1"


def of_programs() -> list[Round]:
    a_map, routes = PROGRAMS.values()
    return [
        Round("XDP: all are dropped", (f"xdp drop {PORTS}", "sleep 0.2", OFF)),
        Round("XDP by a map: rings, MTU, down and up, statistics", (a_map, *SWAPS), frames=FRAMES),
        Round("XDP by a map: reset", CHANGES["reset"]),
        Round("XDP by routes: rings, MTU, down and up, statistics", (routes, *SWAPS), frames=FRAMES),
        Round(
            "XDP by routes: overload, rings", CHANGES["rings"], frames=1000, load_percent=100, quiet=BUSY
        ),
        Round("XDP: programs come and go", (a_map, routes, OFF, routes, a_map, OFF)),
        Round(
            "the flow table: rings, down and up",
            (f"flowtable {PORTS}", *CHANGES["rings"], *CHANGES["down and up"], "flowtable --off"),
            frames=FRAMES,
        ),
    ]


def of_sockets() -> list[Round]:
    """AF_XDP, with copies and zero-copy, on one port, which forwards no frames meanwhile."""

    def during(mode: str, *commands: str, name: str, chunks: int = 100, **fields) -> Round:
        return Round(
            f"AF_XDP, {mode}: {name}",
            (
                SOCKETS,
                owner(f"{mode} echo eth0 {chunks}"),
                *commands,
                END,
                "grep -q 'received [1-9]' /tmp/xsk.said",
                "xdp off eth0",
            ),
            echoed=True,
            **fields,
        )

    return [
        during("zero", *SWAPS, name="rings, MTU, down and up, statistics", frames=FRAMES),
        Round(
            "AF_XDP, zero: sends, rings, down and up",
            (
                owner("zero send eth0 512 1000"),
                *CHANGES["rings"],
                *CHANGES["down and up"],
                "while kill -0 $(cat /tmp/pid); do sleep 0.01; done",
            ),
        ),
        Round("AF_XDP, zero: sends", ("/tmp/xsk zero send eth0 512 300 | grep -q 'sent 300'",)),
        during(
            "zero",
            *CHANGES["reset"],
            "xdp off eth0",
            SOCKETS,
            name="reset, its program goes",
            frames=200,
        ),
        during(
            "deaf",
            "sleep 1",
            name="few chunks, overload",
            chunks=4,
            frames=600,
            load_percent=1,
            quiet=BUSY,
        ),
        during("copy", *SWAPS, name="rings, MTU, down and up, statistics", frames=FRAMES),
    ]


def of_shortage() -> list[Round]:
    """Each allocation of a command fails once."""
    numbers = (*range(1, 9), 12, 20, 50)
    sends = nth(numbers, "timeout -s KILL 5 /tmp/xsk zero send eth0 64 20")
    return [
        Round(
            "each allocation of a program's start fails once",
            (*nth(numbers, f"xdp fib {PORTS}"), f"xdp fib {PORTS}"),
            may_fail=True,
        ),
        Round(
            "each allocation of another ring's fails once, with a program",
            nth(numbers, "ethtool -G eth0 rx 64"),
            may_fail=True,
        ),
        Round("each allocation of a socket's start fails once", (*sends, OFF), may_fail=True),
    ]


def put_xsk(guest):
    # A version that polls less often: on this kernel, each poll takes much of the usual 100 us.
    program = userspace.compiled("xsk", HERE / "xsk.c", userspace.toolchain(), ("MOMENT=20000000",))
    guest.send_file(program)
    guest.check("chmod +x /tmp/xsk")
    guest.send_file(userspace.xdp_program(HERE / "sockets.bpf.c"))


@pytest.mark.parametrize("harts", [1, 2])
@pytest.mark.parametrize("rounds", [of_programs, of_sockets])
def test_fast_path(tmp_path, rounds, harts):
    with opened(harts=harts) as guest:
        guest.check("dmesg -c > /dev/null")
        guest.send_module(TIMEOUT, tmp_path / "built")
        put_xsk(guest)
        for each in rounds():
            # Harts that share a ring reorder frames.
            guest.round(dataclasses.replace(each, in_order=harts == 1))
        finish(guest)


def test_out_of_memory(tmp_path):
    with opened() as guest:
        guest.check("dmesg -c > /dev/null")
        put_xsk(guest)
        prepare(guest)
        for each in of_shortage():
            guest.round(each)
        for attach in PROGRAMS.values():
            before = dropped(guest)
            assert guest.run([attach, *chance(70)]) == []
            guest.offer(150, 100, BUSY)
            guest.collect()
            assert guest.run(chance(0)) == []
            assert dropped(guest) > before, "no allocation failed"
            guest.round(Round("XDP: after 70 % of allocations failed", (OFF,)))
        finish(guest)
