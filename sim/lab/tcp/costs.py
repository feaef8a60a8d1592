# SPDX-License-Identifier: BSD-2-Clause
"""A transfer's cycles by context, by layer and by function, as a record has them.

As in `moderato profile`, a cycle belongs to the layer of the innermost function on its call stack that
has a layer here. So helpers count for their callers.
"""

from collections import Counter
from collections.abc import Sequence

from ..explain.stacks import Stack
from ..explain.terms import IDLE, Term, base, by_function, term_of
from .segments import context, segment

LAYERS = tuple(
    Term(name, meaning, tuple(functions.split()))
    for name, (meaning, functions) in {
        "interrupts": (
            "into and out of interrupts and traps",
            "handle_exception do_irq irq_exit_rcu ret_from_exception",
        ),
        "driver": (
            "the driver: rings, interrupts",
            """moderato_rx_interrupt
        moderato_tx_interrupt moderato_rx_irq_handle moderato_rx_irq_receive
        moderato_rx_napi_handle moderato_napi_poll moderato_rx_receive moderato_rx_take
        moderato_rx_fill moderato_start_xmit moderato_tx_take moderato_tx_take_planned
        moderato_tx_finish moderato_tx_irq_handle moderato_tx_none_reclaim
        moderato_tx_none_timer moderato_tx_copy moderato_tx_gather moderato_merge_receive
        moderato_merge_head liteeth_interrupt liteeth_start_xmit""",
        ),
        "checksum": (
            "sums over payloads",
            """do_csum csum_partial skb_checksum_help
        skb_checksum __skb_checksum __skb_checksum_complete csum_ipv6_magic""",
        ),
        "copy, sum": (
            "the driver's copy of what is sent, summed meanwhile",
            """moderato_copy_sum
        moderato_cut_take/memcpy moderato_tx_copy/memcpy""",
        ),
        "copy": ("between user and kernel", "fallback_scalar_usercopy _copy_to_iter _copy_from_iter"),
        "buffers": (
            "socket buffers and pages, taken and freed",
            """build_skb napi_build_skb
        napi_get_frags __netdev_alloc_skb __alloc_skb __page_frag_alloc_align page_frag_free
        page_pool_alloc_frag page_pool_put_unrefed_netmem napi_consume_skb __napi_kfree_skb
        dev_kfree_skb_irq_reason dev_kfree_skb_any_reason sk_skb_reason_drop net_tx_action
        skb_attempt_defer_free skb_release_data __kfree_skb kfree_skb_partial skb_page_frag_refill
        sk_page_frag_refill tcp_stream_alloc_skb skb_clone""",
        ),
        "GRO": (
            "merging what arrived, cutting what leaves",
            """napi_gro_frags dev_gro_receive
        napi_gro_complete tcp_gro_receive tcp4_gro_receive inet_gro_receive skb_gro_receive
        __skb_gso_segment skb_mac_gso_segment tcp_gso_segment skb_segment""",
        ),
        "IP": (
            "reception, routing, queues",
            """napi_gro_receive
        netif_receive_skb_list_internal __netif_receive_skb_one_core __netif_receive_skb_core
        ip_rcv ip_list_rcv ip_local_deliver ip_forward ip_output __ip_queue_xmit ip_queue_xmit
        __dev_queue_xmit sch_direct_xmit __qdisc_run validate_xmit_skb""",
        ),
        "netfilter": (
            "connection tracking",
            """nf_hook_slow nf_conntrack_in nf_confirm
        nf_conntrack_tcp_packet""",
        ),
        "TCP in": (
            "segments and ACKs received",
            """tcp_v4_rcv tcp_v4_do_rcv
        tcp_rcv_established tcp_ack tcp_data_queue tcp_queue_rcv tcp_add_backlog
        sock_def_readable""",
        ),
        "TCP out": (
            "segments and ACKs sent",
            """tcp_write_xmit __tcp_transmit_skb
        __tcp_send_ack tcp_send_ack tcp_push __tcp_push_pending_frames tcp_delack_timer
        tcp_write_timer tcp_cleanup_rbuf __tcp_cleanup_rbuf""",
        ),
        "socket": (
            "the system call, the socket's lock, waiting",
            """tcp_recvmsg
        tcp_recvmsg_locked tcp_sendmsg tcp_sendmsg_locked inet_recvmsg inet_sendmsg
        release_sock lock_sock_nested sk_wait_data sk_stream_wait_memory do_trap_ecall_u""",
        ),
        "softirq": (
            "putting work off, and picking it up",
            """handle_softirqs net_rx_action
        __napi_poll napi_complete_done napi_schedule_prep __napi_schedule
        __napi_schedule_irqoff netif_rx netif_rx_internal process_backlog run_ksoftirqd
        __raise_softirq_irqoff raise_softirq_irqoff""",
        ),
        "timer": (
            "tick, timers, clocks",
            """riscv_timer_interrupt trap_entry
        run_timer_softirq hrtimer_run_softirq mod_timer sk_reset_timer hrtimer_start_range_ns
        tick_nohz_idle_stop_tick tick_nohz_idle_exit tick_irq_enter rcu_process_callbacks""",
        ),
        "scheduler": (
            "choosing the next task, idle loop",
            """schedule schedule_idle __schedule
        preempt_schedule_irq try_to_wake_up __switch_to do_idle default_idle_call
        smpboot_thread_fn schedule_timeout""",
        ),
        "program": ("the user's program", "[user] do_page_fault worker_thread ret_from_fork"),
    }.items()
)
_LAYER_OF = by_function(LAYERS)


def summary(stacks: Sequence[Stack]) -> dict:
    """The profile for a record: whole cycles of the window, so that all sums are exact."""
    contexts, layers, parts, causes = Counter(), Counter(), Counter(), Counter()
    functions, entries = Counter(), Counter()
    for stack in stacks:
        idle = stack.causes[IDLE]
        causes.update(stack.causes)
        contexts[IDLE] += idle
        layers[IDLE] += idle
        parts[IDLE] += idle
        contexts[context(stack.functions)] += stack.cycles - idle
        layers[term_of(stack.functions, _LAYER_OF)] += stack.cycles - idle
        parts[segment(stack.functions)] += stack.cycles - idle
        functions[base(stack.functions[-1])] += stack.cycles - idle
        entries[base(stack.functions[-1])] += stack.entries
    busy = {name: count for name, count in functions.most_common() if count}
    return {
        "cycles": causes.total(),
        "causes": causes,
        "contexts": contexts,
        "layers": layers,
        "segments": parts,
        "functions": busy,
        "entries": {name: entries[name] for name in busy if entries[name]},
    }
