# SPDX-License-Identifier: BSD-2-Clause
"""A pretended board with ports: its shell is in a network namespace with eth0 and eth1. Their other
ends, port0 and port1, are in the host's namespace. Linux there forwards as it does on a board.

What a board has and this namespace lacks are scripts in front of PATH. Needs root.
"""

import contextlib
import functools
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

SCRIPTS = {
    # Reads of /proc/interrupts show an interrupt for each frame.
    "cat": """\
case $1 in
/proc/interrupts)
    for port in 0 1; do
        cd /sys/class/net/eth$port/statistics
        echo "  $((7 + 2 * port)):  $(/bin/cat rx_packets)  SiFive PLIC $((3 + port)) Edge  eth$port-rx"
        echo "  $((8 + 2 * port)):  $(/bin/cat tx_packets)  SiFive PLIC $((5 + port)) Edge  eth$port-tx"
    done
    shift ;;
/proc/uptime)
    read up idle < /proc/uptime
    up=$((${up%.*}${up#*.} * ${BENCH_PPM:-1000000} / 1000000))
    echo "$((up / 100)).$(printf %02d $((up % 100))) $idle"
    exit ;;
esac
[ $# -gt 0 ] || exit 0
exec /bin/cat "$@"
""",
    # MACs at 0xf1000000 and 0xf1001000; the second one has a clock.
    "devmem": """\
read up idle < /proc/uptime
ns=$((${up%.*}${up#*.} * 10000 * ${BENCH_PTP_PPM:-1000000} / 1000000 * 1000))
case $1 in
0xf100102c) echo 0x00004000 ;;
0xf0006000) echo ${BENCH_DIE:-0x0000005C} ;;
0xf1001404) echo $ns > $BENCH/time ;;
0xf1001410) printf '0x%08X\n' $(($(/bin/cat $BENCH/time) & 0xffffffff)) ;;
0xf1001414) printf '0x%08X\n' $(($(/bin/cat $BENCH/time) >> 32)) ;;
*) echo 0x00000000 ;;
esac
""",
    "ethtool": """\
case $1 in
-S)
    [ ! "$BENCH_MISCOUNT" ] || echo >> $BENCH/filtered
    echo "     rx_filtered: $(wc -l < $BENCH/filtered)" ;;
-t)
    echo "Cannot test: Operation not supported" >&2
    exit 95 ;;
-C | --set-priv-flags)
    case $* in *rx-usecs-low\\ 100000*) exit 95 ;; esac
    place=$BENCH/$1$2
    shift 2
    mkdir -p $place
    while [ $# -gt 0 ]; do
        echo $2 > $place/$1
        shift 2
    done ;;
-c)
    cd $BENCH/-C$2 2>/dev/null && grep -H . * | sed 's/:/: /' ;;
--show-priv-flags)
    echo "Private flags for $2:"
    cd $BENCH/--set-priv-flags$2 2>/dev/null && grep -H . * | sed 's/:/: /' ;;
eth*)
    echo "    Speed: 10000Mb/s"
    case $(/bin/cat /sys/class/net/$1/carrier) in
    1) echo "    Link detected: yes" ;;
    *) echo "    Link detected: no" ;;
    esac ;;
esac
""",
    "md5sum": """\
case $1 in
/lib/modules/*)
    echo "$(/usr/bin/md5sum < $BENCH/moderato.ko | cut -c1-32)  /lib/modules/moderato.ko" ;;
*)
    exec /usr/bin/md5sum "$@" ;;
esac
""",
}
HOST = """\
set -e
mount -t sysfs sysfs /sys
echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6
for port in 0 1; do
    ip link add port$port type veth peer name eth$port
    ip link set port$port up
    ip link set eth$port netns {board}
done
"""
BOARD = """\
set -e
mount -t sysfs sysfs /sys
mount -t tmpfs tmpfs /etc
mkdir /etc/moderato
echo '#!/bin/true' > /etc/moderato/up
chmod +x /etc/moderato/up
echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6
for port in 0 1; do
    ip link set eth$port address 02:4d:6f:64:00:0$port up
    ip addr add 198.1$((8 + port)).0.1/24 dev eth$port
    ip neigh replace 198.1$((8 + port)).0.2 lladdr 02:54:73:74:00:0$port nud permanent dev eth$port
done
echo 1 > /proc/sys/net/ipv4/ip_forward
echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter
"""


@dataclass(frozen=True)
class Bench:
    """Processes that hold the namespaces; `folder` has the scripts."""

    host: int
    board: int
    folder: Path

    def on_board(self, command: str):
        subprocess.run([*entering(self.board), "sh", "-c", command], check=True, capture_output=True)

    def on_host(self, command: str):
        subprocess.run([*entering(self.host), "sh", "-c", command], check=True, capture_output=True)

    def environment(self, **settings: str) -> dict[str, str]:
        """Of the board's shell; settings: BENCH_…, as the scripts take them."""
        path = f"{self.folder}/bin:{os.environ['PATH']}:/usr/sbin:/sbin"
        return {"PATH": path, "BENCH": str(self.folder)} | settings

    def moderato(self, *words: str) -> subprocess.CompletedProcess:
        """A command of ours, in the host's namespace."""
        process = self.started(*words)
        output = process.communicate()
        return subprocess.CompletedProcess(words, process.returncode, *output)

    def started(self, *words: str) -> subprocess.Popen:
        return subprocess.Popen(
            [*entering(self.host), sys.executable, "-P", "-m", "moderato.sim.lab.cli", *words],
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )


def entering(pid: int) -> list[str]:
    return ["nsenter", "--target", str(pid), "--net", "--mount"]


@functools.cache
def refusal() -> str:
    """The error message without such namespaces; empty with them."""
    pair = ["ip", "link", "add", "one", "type", "veth", "peer", "name", "other"]
    return subprocess.run(["unshare", "--net", "--mount", *pair], text=True, capture_output=True).stderr


@contextlib.contextmanager
def made(folder: Path) -> Iterator[Bench]:
    """A bench while the block runs. Skips the test if the kernel does not permit one."""
    if refused := refusal():
        pytest.skip(f"no namespaces with a pair of interfaces: {refused}")
    (folder / "bin").mkdir(parents=True)
    for name, text in SCRIPTS.items():
        (folder / "bin" / name).write_text(f"#!/bin/sh\n{text}")
        (folder / "bin" / name).chmod(0o755)
    (folder / "filtered").touch()
    (folder / "moderato.ko").write_bytes(b"the driver")
    holder = ["unshare", "--net", "--mount", "sh", "-c", "echo; exec sleep 1000000"]
    with contextlib.ExitStack() as stack:
        pids = []
        for _ in range(2):
            process = stack.enter_context(
                subprocess.Popen(holder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            )
            stack.callback(process.kill)
            assert process.stdout and process.stderr
            assert process.stdout.readline(), process.stderr.read()
            pids.append(process.pid)
        host, board = pids
        for pid, script in (host, HOST.format(board=board)), (board, BOARD):
            done = subprocess.run([*entering(pid), "sh", "-c", script], text=True, capture_output=True)
            assert done.returncode == 0, done.stderr
        yield Bench(host, board, folder)
