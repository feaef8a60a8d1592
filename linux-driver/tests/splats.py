# SPDX-License-Identifier: BSD-2-Clause
"""Bug reports of a kernel with checks, in its log and in its status files."""

import re

WARNING = 4  # the log's level of warnings; lower ones are worse

# Words of reports below that level, and words that every report has. The guest's grep uses this pattern,
# too.
MARKS = re.compile(
    r"WARNING:|(^|[^A-Z])BUG[ :]|INFO: |Oops|Call Trace|panic|UBSAN:|DMA-API:|ODEBUG:|"
    r"possible recursive|suspicious RCU|while atomic|corruption|poison|refcount|ref_tracker|"
    r"suspected memory leak|stalled pool|timed out|nobody cared"
)

# Messages of a healthy kernel. At boot: the console's driver has no early form, a banner reports that
# SLUB's checks make addresses readable, and the lock validator's figures have no level. Later: an
# out-of-tree module is loaded, there is no memory for a ring, or none for the reference tracker, which
# then stops checking.
HARMLESS = re.compile(
    r"DMA-API: (preallocated \d+ debug entries|debugging enabled by kernel config)|"
    r"page_poison=1|Malformed early option 'console'|\*\*.*\*\*$|"
    r"Lock dependency validator: Copyright|\.\.\. (MAX_LOCK|CLASSHASH_|CHAINHASH_)|"
    r" memory used (by lock dependency info|for stack traces)|per task-struct memory footprint|"
    r"Kernel memory protection not selected|"
    r"moderato: loading out-of-tree module taints kernel|"
    r"page_pool_create_percpu\(\) gave up with errno -12|"
    r"ref_tracker: memory allocation failure, unreliable refcount tracker"
)
OUT_OF_TREE = 1 << 12  # the taint of an out-of-tree module
WARNED = 1 << 9  # the taint of a WARN()

# Reports about the kernel itself, by functions of their call trace.
# - netpoll frees, with interrupts off, skbs that a driver left to a softirq. It checks
#   skb_irq_freeable(), which ignores page_pools.
# - A page_pool enters the pages that it maps into an xarray, which it locks with softirqs off, without
#   XA_FLAGS_LOCK_BH. If memory is short and the caller may sleep, the xarray unlocks, leaves softirqs
#   off, and sleeps.
# - XDP programs run with softirqs off, which is enough for RCU (filter.h). bpf_fib_lookup() reads routes
#   and neighbours there with rcu_dereference(), which accepts only rcu_read_lock().
KERNELS_OWN = (
    ("zap_completion_queue",),
    ("page_pool_dma_map", "__xas_nomem"),
    ("lockdep_rcu_suspicious", "bpf_xdp_fib_lookup"),
)
_TRACE = r"(?s:.*?)Call Trace:\s*\n(?:.*\+0x\w+/0x.*\n)+"
REPORT = re.compile(
    r"^.*\[ cut here \](?s:.*?)\[ end trace .*\n|"
    rf"^.*BUG: sleeping function {_TRACE}|"
    rf"^(?:<4>\s*\n)?.*={{9,}}\s*\n.*WARNING: suspicious RCU usage{_TRACE}",
    re.M,
)


def splats(log: str) -> list[str]:
    """The lines of a log (as `dmesg -r` prints it, with levels) that report a bug."""
    return [line for line in log.splitlines() if _tells(line)]


def _tells(line: str) -> bool:
    level = re.match(r"<(\d+)>", line)
    bad = MARKS.search(line) or level and int(level[1]) & 7 <= WARNING
    return bool(bad) and not HARMLESS.search(line)


def without_the_kernels_own(log: str) -> str:
    """The log without the reports of KERNELS_OWN."""

    def own(report: str) -> bool:
        return any(all(f"{function}+" in report for function in trace) for trace in KERNELS_OWN)

    return REPORT.sub(lambda report: "" if own(report[0]) else report[0], log)


def headlines(lines: list[str]) -> list[str]:
    """The lines of splats that name the bug."""
    named = [line for line in lines if MARKS.search(line) and "Call Trace" not in line]
    return named or lines[:1]


# The guest prints its log, empties it, and prints the kernel's verdicts. A character costs the debug
# kernel 0.3 M cycles, so the guest omits lines that splats() ignores, times, addresses and registers.
# Its dmesg prints levels only with -r.
VERDICTS = (
    f"dmesg -rc | grep -E '^<([0-4]|[0-9][0-9])>|{MARKS.pattern}' | sed -E "
    r"'s/\[ *[0-9.]+\] (\[<[0-9a-f]+>\] )?//; /^<4> ?(epc|gp|[ast][0-9]+|status) ?:/d'; "
    "echo @verdicts; cat /proc/sys/kernel/tainted /sys/kernel/debug/dma-api/error_count "
    "/sys/kernel/debug/dma-api/disabled"
)
# Whether the lock validator is still on. The log also has a message when it switches itself off. These
# statistics cost 80 M cycles, so tests read them once, at the end.
LOCKS = "grep debug_locks: /proc/lockdep_stats"


def verdicts(text: str, taints: int = OUT_OF_TREE) -> list[str]:
    """The errors in the output of VERDICTS. taints: the expected ones."""
    log, judged = text.split("@verdicts\n")
    tainted, dma_errors, dma_disabled = judged.split("\n")[:3]
    found = headlines(splats(log))
    if int(tainted) & ~taints:
        found.append(f"the kernel is tainted: {tainted}")
    if int(dma_errors):
        found.append(f"DMA debugging counted {dma_errors} errors")
    if dma_disabled != "N":
        found.append("DMA debugging is off")
    return found


def locks_verdict(text: str) -> list[str]:
    """The errors in the output of LOCKS."""
    return [] if text.split() == ["debug_locks:", "1"] else [f"the lock validator is off: {text}"]
