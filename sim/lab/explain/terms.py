# SPDX-License-Identifier: BSD-2-Clause
"""The parts of a packet's time: the terms of table 5 in Spanos et al. (2008), and more.

A cycle belongs to the term of the innermost function on its call stack that has a term here. So a helper
counts for its caller, and a function is listed only if its term differs from its caller's.
CALLER/FUNCTION lists a function only when that caller calls it. Names are the kernel's symbols without
the compiler's suffixes (`.constprop.0`).
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Term:
    name: str
    meaning: str
    functions: tuple[str, ...]


IDLE, OTHER = "idle", "other"

# From the trap to a driver's handler and back: trap entry and exit, the PLIC, the kernel's interrupt
# core, its accounting, its randomness pool.
T_CS = "handle_exception do_irq irq_exit_rcu ret_from_exception"

# The drivers' reception: take frames off the ring, put buffers on it.
T_RX = """moderato_rx_interrupt moderato_rx_irq_handle moderato_rx_irq_receive
    moderato_rx_napi_handle moderato_napi_poll moderato_rx_receive moderato_rx_take
    moderato_rx_fill liteeth_interrupt"""

# Copies by the CPU of a frame's octets. DMA needs none. The remaining memcpy() writes the 14 octets of
# the new Ethernet header, which is part of forwarding.
T_COPY = """skb_copy skb_copy_expand skb_copy_bits pskb_expand_head
    liteeth_interrupt/memcpy liteeth_start_xmit/memcpy"""

# The stack between the drivers' reception and transmission: GRO, routing, neighbour, qdisc.
T_IP = """napi_gro_receive netif_receive_skb_list_internal __netif_receive_skb_one_core
    __netif_receive_skb_core ip_rcv ip_list_rcv ip_forward ip_output __dev_queue_xmit
    sch_direct_xmit __qdisc_run"""

# The drivers' transmission, and the work when a frame has left.
T_TX = """moderato_start_xmit moderato_tx_interrupt moderato_tx_irq_handle moderato_tx_take_planned
    moderato_tx_none_reclaim moderato_tx_none_timer moderato_tx_take moderato_tx_finish
    liteeth_start_xmit"""

# Allocation and release of socket buffers. net_tx_action() releases those that an interrupt handler
# could not.
T_SKB = """build_skb napi_build_skb __netdev_alloc_skb __netdev_alloc_frag_align
    __page_frag_alloc_align page_frag_free page_pool_alloc_frag page_pool_put_unrefed_netmem
    napi_consume_skb __napi_kfree_skb dev_kfree_skb_irq_reason dev_kfree_skb_any_reason
    sk_skb_reason_drop net_tx_action"""

# Work that the interrupt handler defers: softirqs, NAPI's list, netif_rx().
SOFTIRQ = """handle_softirqs net_rx_action __napi_poll napi_complete_done napi_schedule_prep
    __napi_schedule __napi_schedule_irqoff netif_rx netif_rx_internal process_backlog run_ksoftirqd
    __raise_softirq_irqoff raise_softirq_irqoff"""

# The tick, timers and clocks, the only purpose for which the SBI firmware is called; RCU's callbacks.
TIMER = """riscv_timer_interrupt trap_entry run_timer_softirq hrtimer_run_softirq mod_timer
    hrtimer_start_range_ns tick_nohz_idle_stop_tick tick_nohz_idle_exit tick_irq_enter
    rcu_process_callbacks"""

# Choosing the next task and switching to it; also the idle loop around WFI.
SCHEDULER = """schedule schedule_idle __schedule preempt_schedule_irq try_to_wake_up __switch_to
    do_idle default_idle_call smpboot_thread_fn"""

# Programs, with their system calls and page faults; work queues.
TASKS = "[user] do_trap_ecall_u do_page_fault worker_thread ret_from_fork"

# Functions of SMP kernels only. Unlocks that are one store are inlined.
LOCKS = """_raw_spin_lock _raw_spin_lock_irq _raw_spin_lock_irqsave _raw_spin_lock_bh
    _raw_spin_trylock _raw_spin_trylock_bh _raw_spin_unlock_bh _raw_spin_unlock_irqrestore
    _raw_read_lock _raw_read_lock_bh _raw_read_unlock_bh _raw_write_lock _raw_write_lock_bh"""
IPIS = """handle_IPI sbi_ipi_handle arch_send_call_function_single_ipi ipi_mux_process
    smp_call_function_single_async smp_call_function_single __smp_call_single_queue
    generic_smp_call_function_single_interrupt flush_smp_call_function_queue"""

TERMS = tuple(
    Term(name, meaning, tuple(functions.split()))
    for name, meaning, functions in (
        ("T_CS", "into and out of interrupts", T_CS),
        ("T_RX", "driver, reception", T_RX),
        ("T_COPY", "copying of frames by the CPU", T_COPY),
        ("T_IP", "the stack: reception, routing, queues", T_IP),
        ("T_TX", "driver, transmission", T_TX),
        ("T_SKB", "socket buffers, taken and freed", T_SKB),
        ("softirq", "putting work off, and picking it up", SOFTIRQ),
        ("timer", "tick, timers, clocks", TIMER),
        ("scheduler", "choosing the next task, idle loop", SCHEDULER),
        ("tasks", "programs, system calls, work queues", TASKS),
        (IDLE, "waiting for an interrupt", ""),
        (OTHER, "no function named in sim/lab/explain/terms.py", ""),
    )
)


def by_function(terms: Sequence[Term]) -> dict[str, str]:
    """For each listed function, the name of its term."""
    return {function: term.name for term in terms for function in term.functions}


SEVERAL = tuple(
    Term(name, meaning, tuple(functions.split()))
    for name, meaning, functions in (
        ("locks", "of several harts: taken, and waited for", LOCKS),
        ("IPIs", "between harts: sent, and answered", IPIS),
    )
)
SHARED = Term("T_RX", "", ("moderato_shared_poll", "moderato_helper_poll"))  # of rx_shared.c
_TERM_OF = by_function((*TERMS, *SEVERAL, SHARED))


def base(function: str) -> str:
    """A function's name in the source."""
    return function.split(".")[0]


def term_of(stack: Sequence[str], known: dict[str, str] = _TERM_OF) -> str:
    """The term of a stack's cycles, outermost function first; not for cycles in WFI.

    known: other terms, from by_function().
    """
    names = [base(function) for function in stack]
    for caller, function in reversed(list(zip(["", *names], names))):
        term = known.get(f"{caller}/{function}") or known.get(function)
        if term:
            return term
    return OTHER
