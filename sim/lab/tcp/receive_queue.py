# SPDX-License-Identifier: BSD-2-Clause
"""How a socket's receive queue fills and empties, from the calls of some functions.

While a process holds the socket, tcp_add_backlog() queues segments in the backlog; release_sock() passes
them to TCP. TCP appends handled segments to the receive queue with tcp_queue_rcv(). Both functions may
merge a segment with the previous skb; kfree_skb_partial() then frees the remains of the segment's skb.
When tcp_recvmsg_locked() has consumed an skb, it calls sock_rfree(). The process begins with the queue
when it first copies after a call, or after it has waited.
"""

from collections import deque
from collections.abc import Iterable

from ..explain.terms import base
from .segments import context

BACKLOG = "tcp_add_backlog"
CALLS = (
    "tcp_rcv_established",
    "tcp_queue_rcv",
    "kfree_skb_partial",
    "sock_rfree",
    BACKLOG,
    "tcp_recvmsg_locked",
    "sk_wait_data",
    "skb_copy_datagram_iter",
)
QUEUED_BY = ("tcp_rcv_established", "tcp_data_queue", "tcp_ofo_queue")


def figures(calls: Iterable[str], begin: int, end: int) -> dict:
    """From lines "cycle function;function" of one connection, since it was opened.

    begin, end: cycles of the window. Returns the mean length of the receive queue when the process
    begins with it, in skbs and in segments as they arrived, and how often it began. Also the percentage
    of segments that TCP handled in softirqs. None where nothing was counted.
    """
    backlog, queue, handled = deque(), deque(), 1  # segments of each skb
    skbs, segments, contexts, begins = [], [], [], False
    for line in calls:
        cycle, stack = line.split()
        functions = [base(name) for name in stack.split(";")]
        inside = begin <= int(cycle) < end
        caller = functions[-2] if len(functions) > 1 else ""
        match functions[-1]:
            case "tcp_add_backlog":
                backlog.append(1)
            case "kfree_skb_partial" if caller == BACKLOG:
                _merge(backlog)
            case "tcp_rcv_established":
                put_aside = "__release_sock" in functions and backlog
                handled = backlog.popleft() if put_aside else 1
                contexts += [context(functions)] * (handled * inside)
            case "tcp_queue_rcv":
                queue.append(handled)
            case "kfree_skb_partial" if caller in QUEUED_BY:
                _merge(queue)
            case "sock_rfree" if caller == "tcp_recvmsg_locked" and queue:
                queue.popleft()
            case "tcp_recvmsg_locked" | "sk_wait_data":
                begins = True
            case "skb_copy_datagram_iter" if begins:
                begins = False
                if inside:
                    skbs.append(len(queue))
                    segments.append(sum(queue))
    softirq = sum(each == "softirq" for each in contexts)
    return {
        "mean_skbs": _mean(skbs),
        "mean_segments": _mean(segments),
        "begun": len(skbs),
        "softirq_percent": round(100 * softirq / len(contexts), 3) if contexts else None,
    }


def _merge(skbs: deque):
    """Merge the last skb with the one before it."""
    if len(skbs) > 1:
        last = skbs.pop()
        skbs[-1] += last


def _mean(values: list[int]) -> float | None:
    return round(sum(values) / len(values), 3) if values else None
