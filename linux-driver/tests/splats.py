# SPDX-License-Identifier: BSD-2-Clause
"""What a kernel with checks says of bugs: in its log, and where it keeps its verdicts."""

import re

WARNING = 4  # the log's level of warnings; lower ones are worse

# Reports that are not at that level, and words that no report is without, to be on the safe side.
# The guest's grep knows what is written here, too.
MARKS = re.compile(
    r"WARNING:|(^|[^A-Z])BUG[ :]|INFO: |Oops|Call Trace|panic|UBSAN:|DMA-API:|ODEBUG:|"
    r"possible recursive|suspicious RCU|while atomic|corruption|poison|refcount|ref_tracker|"
    r"suspected memory leak|stalled pool|timed out|nobody cared"
)

# What a healthy kernel says: as it boots (the console's driver has no early form, SLUB's checks make
# addresses readable, which a banner says, and the lock validator's figures have no level), as it
# loads a module that is not its own, as it refuses a ring for which there is no memory, and as there is
# none to note who holds a net device, which it then does not check.
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
OUT_OF_TREE = 1 << 12  # the one taint that a module of our own leaves
WARNED = 1 << 9  # the one of a WARN()

# Reports that are of the kernel alone, by functions of their call trace.
# - netpoll frees with interrupts off what a driver left to a softirq, and looks at what would forbid
#   that (skb_irq_freeable()), but not whether the memory is a page_pool's, which forbids it, too.
# - A page_pool notes the pages that it maps in an xarray, which it locks with softirqs off, and does
#   not tell the xarray so (XA_FLAGS_LOCK_BH). If there is no memory at once, and the pool is filled
#   where one may sleep, the xarray unlocks without softirqs on, and sleeps.
# - Programs of XDP run with softirqs off, which is enough for RCU (filter.h says so). bpf_fib_lookup()
#   reads routes and neighbours there with rcu_dereference(), which knows of rcu_read_lock() alone.
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
    """The lines of a log (as `dmesg -r` prints it, with levels) that tell of a bug."""
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
    """Of the lines of splats, those that say what it is."""
    named = [line for line in lines if MARKS.search(line) and "Call Trace" not in line]
    return named or lines[:1]


# What the guest prints of its log, which it empties, and then of the kernel's verdicts. A character
# costs the debug kernel 0.3 M cycles: what says nothing to splats() stays in the guest, and so do
# times, addresses and registers. Only with -r does its dmesg print the levels.
VERDICTS = (
    f"dmesg -rc | grep -E '^<([0-4]|[0-9][0-9])>|{MARKS.pattern}' | sed -E "
    r"'s/\[ *[0-9.]+\] (\[<[0-9a-f]+>\] )?//; /^<4> ?(epc|gp|[ast][0-9]+|status) ?:/d'; "
    "echo @verdicts; cat /proc/sys/kernel/tainted /sys/kernel/debug/dma-api/error_count "
    "/sys/kernel/debug/dma-api/disabled"
)
# Whether the lock validator is still on. It says so in the log when it switches itself off, and
# these statistics cost 80 M cycles: once, at the end.
LOCKS = "grep debug_locks: /proc/lockdep_stats"


def verdicts(text: str, taints: int = OUT_OF_TREE) -> list[str]:
    """What is wrong in the output of VERDICTS. taints: those that are known."""
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
    """The same of LOCKS."""
    return [] if text.split() == ["debug_locks:", "1"] else [f"the lock validator is off: {text}"]
