# SPDX-License-Identifier: BSD-2-Clause
"""Every promise is proved, every listed state is reachable, and the proofs detect faults of the
gateware."""

import functools
import re
from functools import partial

import pytest
from migen import Signal

from formal.completions import CompletionsProof
from formal.descriptor import DescriptorProof
from formal.dma import DMAReaderProof, DMAWriterProof
from formal.flows import FlowsProof, ForwardProof, ThreeTurnsProof
from formal.gather_ring import GatherRingProof
from formal.gates import GatedSchedulerProof, GatesProof
from formal.launch import LaunchProof
from formal.moderation import ModerationProof
from formal.pacing import PacingProof
from formal.pause import PauseSourceProof, PauseTimerProof
from formal.prover import REACH, breaks, broken_promises, reached, text
from formal.ptp_clock import PeriodicOutputProof, PTPClockProof
from formal.queues import OneByOneProof, TurnsProof
from formal.register_file import RegisterFileProof
from formal.rx_ring import RxRingProof
from formal.shaper import ShaperProof
from formal.tx_ring import TxRingProof

PROOFS = {
    "moderation":    ModerationProof,
    "pacing":        PacingProof,
    "descriptor":    DescriptorProof,
    "descriptor_second": partial(DescriptorProof, second=True),
    "completions":   CompletionsProof,
    "tx_ring":       TxRingProof,
    "tx_ring_checksum": partial(TxRingProof, checksum=True),
    "tx_ring_tag":   partial(TxRingProof, tag=True),
    "tx_ring_stamp": partial(TxRingProof, stamp=True),
    "gather_ring":   GatherRingProof,
    "gather_ring_options": partial(GatherRingProof, options=True),
    "rx_ring":       RxRingProof,
    "reader":        DMAReaderProof,
    "writer":        DMAWriterProof,
    "register_file": RegisterFileProof,
    "pause_source":  PauseSourceProof,
    "pause_timer":   PauseTimerProof,
    "ptp_clock":     PTPClockProof,
    "periodic_output": PeriodicOutputProof,
    "turns":         TurnsProof,
    "one_by_one":    OneByOneProof,
    "three_turns":   ThreeTurnsProof,
    "flows":         FlowsProof,
    "flows_narrow":  partial(FlowsProof, narrow=True),
    "forward":       ForwardProof,
    "launch":        LaunchProof,
    "gates":         GatesProof,
    "gates_scheduler": GatedSchedulerProof,
    "shaper":        ShaperProof,
}

# Clocks within which a state is reached, for proofs whose reset takes some of them, or whose products
# make the search slow.
CLOCKS = {"flows_narrow": 40, "launch": 12, "gates_scheduler": 12}


@functools.cache
def code(name):
    return text(PROOFS[name])


@functools.cache
def states(name):
    return reached(code(name), CLOCKS.get(name, REACH))


def test_equal_proofs_are_equal_text():
    """Independent of earlier objects in the process; otherwise the proofs would run again."""
    texts = set()
    for others in range(20):
        for _ in range(others):
            Signal()
        texts.add(text(PROOFS["reader"]))
    assert len(texts) == 1


# More than a minute of CPU time.
SLOW = ["gather_ring_options", "flows"]


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in PROOFS])
def test_promises_hold(name):
    assert broken_promises(code(name)) == []


@pytest.mark.parametrize("name, state", [(name, state) for name, proof in PROOFS.items()
                                         for state in proof().reachable])
def test_state_is_reachable(name, state):
    assert state in states(name)


# A change of the generated Verilog (pattern, replacement), and a promise that it breaks.
MUTANTS = {
    "a re-arm forgets unseen completions":
        ("moderation", r"(unreported <= )\(\(\w+_loud & \w+_loud_ahead\[15\]\) \?.*;", r"\g<1>0;",
         "nothing_is_forgotten"),
    "silent completions count at a re-arm":
        ("moderation", r"(unreported <= )\(\(\w+_loud & \w+_loud_ahead\[15\]\) \? (.*) : .*;",
         r"\1\2;", "silent_ones_count_for_nothing"),
    "a halt raises no interrupt":
        ("moderation", r"(dut_raised = .*) \| \w+by_halt\)", r"\1)", "halt_raises_at_once"),
    "a driver ahead is treated as one that lags":
        ("moderation", r"if \(\(\(\w+_ahead != 1'd0\) & \(\w+_ahead < 5'd16\)\)\)", "if (0)",
         "seen_raises_nothing"),
    "a completion seen early still requests an interrupt":
        ("moderation", r"if \(\(\w+counts & request\)\)", "if ((completion & request))",
         "seen_raises_nothing"),
    "completions seen early do not count down":
        ("moderation", r"(seen <= )\((\w+seen) - 1'd1\);", r"\1\2;", "nothing_is_forgotten"),
    "sleeps during the gap":
        ("moderation", r"(dut_awake = .*) \| \w+gap_ticks\)", r"\1)", "asleep_nothing_changes"),
    "a request ends the gap":
        ("moderation", r"(armed & )\(~\w+gap_ticks\)", r"\1(dut_requested | ~dut_gap_ticks)",
         "gap"),
    "an interrupt does not disarm":
        ("moderation", r"(raised\) begin\s+\w+line <= 1'd1;\s+\w+armed <= )1'd0", r"\g<1>1'd1",
         "one_shot"),
    "each completion restarts the absolute timer":
        ("moderation", r"if \(\((rearm \| \(~\w+outstanding\))\)\)", r"if ((\1 | completion))",
         "bounded_latency"),
    "a completion counts twice":
        ("moderation", r"(dut_completed <= \(\w+ \+ )1'd1\)", r"\g<1>2'd2)", "counts_what_completed"),
    "the doorbell hands over one descriptor too many":
        ("descriptor", r"(producer <= \w*doorbell_index)", r"\1 + 1'd1",
         "reads_nothing_beyond_the_doorbell"),
    "fetches ignore the doorbell":
        ("descriptor", r"(assign \w+available = )\(.*\);", r"\1 16'd4;",
         "reads_nothing_beyond_the_doorbell"),
    "fetches continue after an error":
        ("descriptor", r"(sink_sink_valid = .*) & \(~\w+failed\)\)", r"\1)",
         "asks_for_nothing_after_an_error"),
    "beats after a failed one are delivered":
        ("descriptor", r"(syncfifo_sink_valid = .*) & \(~\w+failed\)\)", r"\1)",
         "delivers_nothing_after_an_error"),
    "a failed status write completes":
        ("completions", r"(_completion = \(\(\w+ & )\(~\w+\)\)", r"\g<1>1'd1)",
         "each_acknowledged_status_completes"),
    "write errors of data are not reported":
        ("completions", r"(statuses_sink_payload_error = )\((\w+) \| \w+\)", r"\1\2",
         "status_tells_what_was"),
    "the status precedes the acknowledgement of the data":
        ("rx_ring", r"(rxring_finish = )\(\w*done\w* & \w*done_note\w*\)",
         r"\1(rxring_waiting & ~rxring_jobs_source_payload_error)",
         "ends_when_acknowledged"),
    "a buffer's last partial word is used":
        ("rx_ring", r"(fits0 = \()words0 <= (\w+payload_length)\[15:3\]\);",
         r"\1(octets - 3'd7) <= \2);", "writes_nothing_beyond_the_buffer"),
    "an invalid length does not wait for earlier jobs":
        ("tx_ring", r"if \(\(~\w+_waiting\)\)", "if (1)", "data_meet_their_job"),
    "words are requested without room":
        ("gather_ring", r"(owed <= )5'd24", r"\g<1>6'd32", "lemma_owed"),
    "a frame with a read error is sent":
        ("gather_ring", r"(assembly_refused <= )\w+source_payload_error", r"\g<1>1'd0",
         "sends_no_part_of_a_frame"),
    "an earlier piece waits for a stamp":
        ("gather_ring_options", r"\((\w+) & \(~source_payload_more\)\)", r"\1",
         "stamps_what_waits_for_a_stamp"),
    "a pause holds the frame that ends it":
        ("pause_source", r"(dut_available = )\((\w+dut_own) \| (.*)\);", r"\1((\2 & ~hold) | \3);",
         "tells_at_once"),
    "a pause frame interrupts a frame":
        ("pause_source", r"(dut_own = )\(\w+busy \? \w+ours : (\w+)\)", r"\1\2", "frames_are_whole"),
    "a full FIFO requests no pause":
        ("pause_source", r"(dut_stop <= )1'd1;", r"\g<1>1'd0;", "tells_at_once"),
    "a quantum never ends":
        ("pause_timer", r"(clocks <= )\((\w+clocks) - 1'd1\)", r"\1\2", "comes_nearer"),
    "a step replaces the increment":
        ("ptp_clock", r"(addend0? <= )\((\w+rate) \+ (.*)\);", r"\1(step ? \3 : \2);",
         "a_step_is_added_to_the_increment"),
    "the output toggles until it has caught up":
        ("periodic_output", r"( & \(~\w+due\)\)) & \(~in_start\)\)", r"\1)", "starts_low"),
    "the turn moves whenever another client wants it":
        ("turns", r"2'd2: begin", "2'd3, 2'd2: begin", "who_wants_it_keeps_it"),
    "simultaneous interrupts count once":
        ("one_by_one", r"(late <= )\(\(.*;", r"\g<1>1'd0;", "what_is_owed_comes_next"),
    "the memory never gets the reset values":
        ("register_file", r"(clearing <= )1'd0;", r"\g<1>1'd1;", "has_the_reset_values_soon"),
    "an access gets two responses":
        ("register_file", r"(request = \(\(\(\(bus_cyc & bus_stb\)) & \(~\w*ack\)\)", r"\1)",
         "answers_what_is_asked"),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_mutant_is_found(mutant):
    name, pattern, replacement, promise = MUTANTS[mutant]
    mutated, changes = re.subn(pattern, replacement, code(name))
    assert changes == 1, "the pattern does not fit the Verilog"
    assert breaks(mutated, promise)
