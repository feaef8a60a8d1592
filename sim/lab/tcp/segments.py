# SPDX-License-Identifier: BSD-2-Clause
"""A receiver's cycles in the time segments of Song et al. (2010), and in additional segments.

Their figures are from probes in the code. Here a cycle's segment follows from its call stack: the
context (softirq or not), and the innermost function of the driver, transmission or reception. All that a
timer's function calls counts as the timer's.
"""

from collections.abc import Sequence

from ..explain.terms import base

TIMERS = {
    "tcp_retransmit_timer": "7",
    "tcp_delack_timer": "8",
    "tcp_delack_timer_handler": "8",
    "tcp_keepalive_timer": "9",
}
TRANSMIT = {
    "tcp_send_ack",
    "__tcp_send_ack",
    "tcp_write_xmit",
    "__tcp_transmit_skb",
    "__ip_queue_xmit",
    "__dev_queue_xmit",
    "tcp_cleanup_rbuf",
    "__tcp_cleanup_rbuf",
    "net_tx_action",
}
RECEIVE = {
    "napi_gro_receive",
    "netif_receive_skb_list_internal",
    "__netif_receive_skb_one_core",
    "netif_rx",
    "netif_rx_internal",
    "process_backlog",
    "ip_rcv",
    "ip_list_rcv",
    "tcp_v4_rcv",
    "tcp_v4_do_rcv",
    "tcp_rcv_established",
    "inet_recvmsg",
    "tcp_recvmsg",
    "release_sock",
}
DRIVERS = ("moderato_", "liteeth_")
CONTEXTS = {
    "do_irq": "hardirq",
    "handle_softirqs": "softirq",
    "do_trap_ecall_u": "syscall",
    "[user]": "user",
    "do_page_fault": "user",
}
KERNEL = "kernel"  # threads, the idle task, entry and exit of traps

SEGMENTS = {
    "1": "driver, outside of interrupts",
    "2": "driver, in interrupts",
    "3": "transmission, in softirqs",
    "4": "reception, in softirqs",
    "5": "reception, outside of softirqs",
    "6": "transmission, outside of softirqs",
    "7": "retransmit timer",
    "8": "delayed-ACK timer",
    "9": "keep-alive timer",
    "interrupts": "into and out of them, the tick, softirqs put off and picked up",
    "program": "the program, its page faults, into and out of its system calls",
    "kernel": "scheduler, threads",
}


def context(functions: Sequence[str]) -> str:
    """The context of a stack's innermost function: that of the last entry function on the stack."""
    for name in reversed(functions):
        if found := CONTEXTS.get(base(name)):
            return found
    return KERNEL


def segment(functions: Sequence[str]) -> str:
    """The segment of a stack's cycles, outermost function first; not for cycles in WFI."""
    names = [base(name) for name in functions]
    for name in names:
        if name in TIMERS:
            return TIMERS[name]
    where = context(functions)
    for name in reversed(names):
        if name in CONTEXTS:
            break  # the remaining functions were interrupted
        if name.startswith(DRIVERS):
            return "2" if where == "hardirq" else "1"
        if name in TRANSMIT:
            return "3" if where == "softirq" else "6"
        if name in RECEIVE:
            return "4" if where in ("softirq", "hardirq") else "5"
    if where in ("user", "syscall"):
        return "program"
    return "kernel" if where == KERNEL and names[0] != "handle_exception" else "interrupts"
