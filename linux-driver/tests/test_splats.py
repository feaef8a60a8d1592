# SPDX-License-Identifier: BSD-2-Clause
"""The detector itself: it finds each kind of report, and nothing in a healthy log."""

import subprocess

import pytest
from splats import (
    OUT_OF_TREE,
    VERDICTS,
    WARNED,
    headlines,
    locks_verdict,
    splats,
    verdicts,
    without_the_kernels_own,
)

HEALTHY = """\
<5>[    0.000000] Linux version 6.12.117-moderato-debug (moderato@moderato) #1 PREEMPT
<5>[    0.000000] Kernel command line: console=liteuart quiet nohz=off page_poison=1
<4>[    0.000000] Malformed early option 'console'
<6>[    0.000000] DMA-API: preallocated 16384 debug entries
<6>[    0.000000] DMA-API: debugging enabled by kernel config
<6>[    0.000000] rcu: Preemptible hierarchical RCU implementation.
<6>[    0.000000] rcu: \tRCU lockdep checking is enabled.
<6>[    2.000000] kmemleak: Kernel memory leak detector initialized (mem pool available: 7000)
<4>[    5.090000] moderato: loading out-of-tree module taints kernel.
<6>[    5.200000] moderato f0003000.ethernet eth0: Link is Up - 100Mbps/Full - flow control off
"""

# Messages of the debug kernel's boot, and of a shortage of memory.
ONCE = """\
<4>[    0.000000] **********************************************************
<4>[    0.000000] ** This system shows unhashed kernel memory addresses   **
<4>[    0.000000] Lock dependency validator: Copyright (c) 2006 Red Hat, Inc., Ingo Molnar
<4>[    0.000000] ... MAX_LOCKDEP_KEYS:        8192
<4>[    0.000000] ... CHAINHASH_SIZE:          16384
<4>[    0.000000]  memory used by lock dependency info: 2511 kB
<4>[    0.000000]  per task-struct memory footprint: 1536 bytes
<4>[    5.000000] Kernel memory protection not selected by kernel config.
<3>[    5.100000] ref_tracker: memory allocation failure, unreliable refcount tracker.
"""

REPORTS = [
    "<3>[    9.1] BUG: MAX_LOCKDEP_KEYS too low!",
    "<4>[    9.1] WARNING: possible circular locking dependency detected",
    "<4>[    9.1] WARNING: possible recursive locking detected",
    "<4>[    9.1] WARNING: inconsistent lock state",
    "<4>[    9.1] WARNING: suspicious RCU usage",
    "<4>[    9.1] WARNING: CPU: 0 PID: 61 at net/core/dev.h:159 page_pool_destroy+0x10/0x20",
    "<6>[    9.1] INFO: trying to register non-static key.",
    "<3>[    9.1] BUG: sleeping function called from invalid context at mm/slub.c:1",
    "<3>[    9.1] rcu: INFO: rcu_preempt self-detected stall on CPU",
    "<3>[    9.1] BUG: scheduling while atomic: ip/61/0x00000201",
    "<3>[    9.1] ref_tracker: eth%d@(ptrval) has 1/1 users at",
    "<3>[    9.1] BUG kmalloc-64 (Tainted: G           O      ): Poison overwritten",
    "<1>[    9.1] Unable to handle kernel paging request at virtual address 6b6b6b6b",
    "<0>[    9.1] Oops [#1]",
    "<0>[    9.1] Kernel panic - not syncing: Fatal exception in interrupt",
    "<3>[    9.1] UBSAN: array-index-out-of-bounds in moderato_rx.c:1:2",
    "<4>[    9.1] DMA-API: moderato f0003000.ethernet: device driver frees DMA memory",
    "<3>[    9.1] ODEBUG: free active (active state 0) object: (ptrval) object type: hrtimer",
    "<3>[    9.1] pagealloc: memory corruption",
    "<4>[    9.1] page_pool_release_retry() stalled pool shutdown: id 3, 1 inflight 60 sec",
    "<6>[    9.1] kmemleak: 2 new suspected memory leaks (see /sys/kernel/debug/kmemleak)",
    "<2>[    9.1] moderato f0003000.ethernet eth0: NETDEV WATCHDOG: CPU: 0: transmit queue 0 "
    "timed out 5100 ms",
    "<3>[    9.1] moderato f0003000.ethernet eth0: Rx DMA does not stop",
    "<4>[    9.1] a warning of an unknown kind",
]


def test_healthy_log():
    assert splats(ONCE + HEALTHY) == []


@pytest.mark.parametrize("report", REPORTS)
def test_report(report):
    assert splats(HEALTHY + report + "\n") == [report]


def test_headline():
    """The headline is the line that names the bug, or else the first line."""
    report = ["<4>[    9.1] ========================", REPORTS[2], "<4>[    9.1] Call Trace:"]
    assert headlines(report) == [REPORTS[2]]
    assert headlines([REPORTS[-1], "<4>[    9.1] more"]) == [REPORTS[-1]]


@pytest.mark.parametrize(
    "text, wrong",
    [
        ("0\n0\nN\n", []),
        ("4096\n0\nN\n", []),
        ("4608\n0\nN\n", ["tainted: 4608"]),
        ("4096\n2\nY\n", ["2 errors", "debugging is off"]),
    ],
)
@pytest.mark.parametrize("log", ["", REPORTS[2]])
def test_verdicts(log, text, wrong):
    found = verdicts(f"{HEALTHY}{log}\n@verdicts\n{text}")
    wrong = [log] * bool(log) + wrong
    assert len(found) == len(wrong) and all(word in line for word, line in zip(wrong, found))


def report(*trace: str) -> str:
    return "".join(
        f"<4>[    9.1] {line}\n"
        for line in (
            "------------[ cut here ]------------",
            "WARNING: CPU: 0 PID: 61 at net/core/page_pool.c:845 page_pool_put_unrefed_netmem+0x1/0x2",
            "Call Trace:",
            *(f"[<c0001234>] {function}+0x10/0x20" for function in trace),
            "---[ end trace 0000000000000000 ]---",
        )
    )


def sleeping(*trace: str) -> str:
    return "".join(
        f"<3>[    9.1] {line}\n"
        for line in (
            "BUG: sleeping function called from invalid context at include/linux/sched/mm.h:321",
            "1 lock held by ethtool/64:",
            " #0: c0700830 (rtnl_mutex){+.+.}-{3:3}, at: rtnl_lock+0x24/0x34",
            "Call Trace:",
            *(f"[<c0001234>] {function}+0x10/0x20" for function in trace),
        )
    )


def suspicious(*trace: str) -> str:
    """lockdep's report. The lines before it have no time, as the guest prints them."""
    return "".join(
        f"<4>{line}\n"
        for line in (
            "",
            "=============================",
            "WARNING: suspicious RCU usage",
            "6.12.117-moderato-debug #1 Tainted: G           O      ",
            "-----------------------------",
            "include/net/neighbour.h:303 suspicious rcu_dereference_check() usage!",
            "",
            "other info that might help us debug this:",
            "",
            "",
            "rcu_scheduler_active = 2, debug_locks = 1",
            "no locks held by swapper/0/0.",
            "",
            "stack backtrace:",
            "Tainted: [O]=OOT_MODULE",
            "Hardware name: Moderato SoC (DT)",
            "Call Trace:",
            *(f"{function}+0x10/0x20" for function in trace),
        )
    )


def test_ignores_route_lookups_of_xdp_programs():
    """Several reports in succession. A report about another function is kept."""
    own = suspicious(
        "lockdep_rcu_suspicious",
        "bpf_ipv4_fib_lookup.constprop.0",
        "bpf_xdp_fib_lookup",
        "bpf_prog_d97074e22a58ab8d_fib",
        "moderato_xdp_receive [moderato]",
    )
    other = suspicious("lockdep_rcu_suspicious", "moderato_xdp_receive")
    assert without_the_kernels_own(HEALTHY + own + own + HEALTHY) == HEALTHY + HEALTHY
    assert without_the_kernels_own(own + other + own) == other
    assert splats(other)


def test_ignores_reports_about_the_kernel_itself():
    """Ignores them by their trace, and no other report, even between two of them. Ignores the taint only
    if it is expected."""
    own = report("__kfree_skb", "zap_completion_queue", "netpoll_poll_dev")
    others = report("__kfree_skb", "moderato_tx_poll")
    assert without_the_kernels_own(HEALTHY + own + own) == HEALTHY
    assert without_the_kernels_own(own + others + own + REPORTS[0]) == others + REPORTS[0]
    asleep = sleeping("__xas_nomem", "__xa_alloc", "page_pool_dma_map")
    assert without_the_kernels_own(HEALTHY + asleep + others) == HEALTHY + others
    drivers = sleeping("moderato_open") + sleeping("__xas_nomem", "__xa_alloc", "moderato_open")
    assert without_the_kernels_own(drivers + asleep) == drivers
    text = f"@verdicts\n{OUT_OF_TREE | WARNED}\n0\nN\n"
    assert verdicts(text, OUT_OF_TREE | WARNED) == []
    assert len(verdicts(text)) == 1


def test_locks_verdict():
    assert locks_verdict(" debug_locks:                             1\n") == []
    assert "is off" in locks_verdict(" debug_locks:                             0\n")[0]


def shown(log: str, file) -> str:
    """The lines that the guest prints of a log."""
    file.write_text(log)
    command = VERDICTS.split("; echo @")[0].replace("dmesg -rc", f"cat {file}")
    return subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("report", REPORTS)
def test_guest_prints_reports(report, tmp_path):
    """All lines that splats() needs, without the time, and few others."""
    kept = shown(HEALTHY + report + "\n", tmp_path / "log")
    assert splats(kept) == [report.replace("[    9.1] ", "")] and len(kept.splitlines()) <= 6


def test_guest_prints_call_traces(tmp_path):
    """The functions of a call trace, without registers. They identify reports about the kernel
    itself."""
    registers = "epc : c03bd1a8 ra : c03bd1a8 sp : c1b7fd50\n", " s11: 00000001 t3 : 00000000\n"
    log = report("__kfree_skb", "zap_completion_queue").replace(
        "<4>[    9.1] Call Trace",
        "".join(f"<4>[    9.1] {line}" for line in registers) + "<4>[    9.1] Call Trace",
    )
    kept = shown(log, tmp_path / "log")
    assert "<4>__kfree_skb+0x10/0x20\n" in kept and "c03bd1a8" not in kept and "t3" not in kept
    assert without_the_kernels_own(kept) == ""
