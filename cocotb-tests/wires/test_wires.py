# SPDX-License-Identifier: BSD-2-Clause
"""The cases that several devices share: wires, buses, clock gates, sets of options.

Each row is its own simulation: `./moderato test cocotb-tests/wires/test_wires.py::NAME` runs it.
"""

from bench.simulation import Simulation as Row
from bench.simulation import TWINS, all_but, some
from cases import (any_wire, basics, checksums, core, endings, faults, flow_pressure, flow_queues,
                  flow_resets, flow_segments, flows, launches, line_rate, masters, merging, pausing,
                  pieces, pressure, rates, resets, rings, segments, shapers, simulated_phy, socs, stamps,
                  tags, two_queues)

SLOW = ""  # all of a row: no mutant of the gateware needs it

ROWS = [
    # The simulation PHY, which has all cases.
    Row("sim-all",        "mac_sim", [simulated_phy]),
    Row("sim-rings",      "mac_sim", [rings]),
    Row("sim-faults",     "mac_sim", [faults], f"{TWINS}|one_fate/lengths=1"),
    Row("sim-pressure",   "mac_sim", [pressure]),
    Row("sim-checksums",  "mac_sim", [checksums]),
    Row("sim-tags",       "mac_sim", [tags]),
    Row("sim-stamps",     "mac_sim", [stamps]),
    Row("sim-line-rate",  "mac_sim_2500", [line_rate]),
    Row("sim-queues",     "mac_queues_sim", [two_queues], f"{TWINS}|fair/lengths=[12]"),
    Row("sim-merging",    "mac_queues_sim", [merging]),

    # Frames in pieces.
    Row("pieces-pieces",   "mac_gather", [pieces]),
    Row("pieces-segments", "mac_gather", [segments],
        f"{TWINS}|version=6.*pieces=1$|version=4.*pieces=17"),
    Row("pieces-whole",    "mac_gather", [basics.transmits_bursts, basics.transmits_every_alignment,
                                          checksums, rings], SLOW),

    # Two MACs that forward to each other: with all options, and with flows only.
    Row("flows-all",     "flow_pair", [flows]),
    Row("flows-options", "flow_pair_all", [flows, flow_segments, flow_queues], all_but(
        "does_not_forward_further", "driver_sends_during_flood", "forwards_flows_of_disabled",
        "frames_leave", "stamped", "stopping_ring")),
    Row("flows-gated",   "flow_pair_gated", [flows], all_but(
        "flows_go_both_ways", "lookalike")),
    Row("flows-pressure", "flow_pair", [flow_pressure], "for_long|link=10/"),
    Row("flows-plain",   "flow_pair_plain",
        some("way|reach|rate|driver|entry|off|halted|stops|latency", flows), SLOW),
    Row("flows-resets",  "mac_flows_gmii", [flow_resets], SLOW),

    # One queue ends, the other one continues: with all options; with frames in pieces and stamps
    # only; with few frame records.
    Row("all-endings",        "mac_queues_gather", [endings]),
    Row("pieces-endings",     "mac_stamped_pieces", [endings], SLOW),
    Row("few-frames-endings", "mac_few_frames", [endings], SLOW),

    # With clock gates, in step with a MAC without gates: the cases in which its parts stop and
    # wake.
    Row("gated-all",     "mac_gated", [simulated_phy], SLOW),
    Row("gated-pause",   "mac_gated", [pausing]),
    Row("gated-stamps",  "mac_gated", [stamps]),
    Row("gated-tags",    "mac_gated", [
        tags.drops_frame_with_bit_error_in_tag, tags.filters_by_vlan, tags.lost_frames_leave_no_tag,
        tags.pause_frames_have_no_tag, tags.inserts_tags, tags.restarts_with_tags,
        tags.removes_tags]),
    Row("gated-options", "mac_all_gated", [  # two queues, frames in pieces and segments
        merging.marks_match_frames, two_queues.both_queues_both_ways,
        two_queues.each_adapts_its_moderation, two_queues.each_has_its_stamps,
        two_queues.late_interrupts_are_counted, two_queues.one_queue_halts,
        two_queues.queues_raise_in_same_clock, two_queues.senders_stop_in_turn,
        two_queues.stopped_and_started_in_turn, pieces.sends_frames_of_any_pieces,
        pieces.stops_within_frame, pieces.aborts_bad_frames,
        segments.segments_match_scapy, segments.stops_within_packet,
        segments.aborts_bad_packets], all_but("each", "late", "marks_match_frames/slow=0.5",
                                                "one_queue_halts", "queues_raise")),

    # Launch times, at all rates. test_mac_launch_gated.py has the same cases.
    Row("rates-launches", "mac_launch_rates", [launches]),
    Row("launches-options", "mac_launch_gated", [  # a FIFO for each queue, with all other options
        checksums, pausing, stamps, tags.inserts_tags, tags.restarts_with_tags,
        two_queues.both_queues_both_ways, two_queues.both_send, two_queues.each_has_its_stamps,
        two_queues.invalid_lengths_affect_one_queue, two_queues.one_queue_halts,
        two_queues.senders_stop_in_turn, two_queues.survives_stalled_bus], TWINS),

    # Shapers without launch times. test_mac_shaper_gated.py has the same cases.
    Row("shapers-sim", "mac_shaper_sim", [shapers]),

    # The MAC core on PHYs of 8, 16 and 32 bits.
    Row("8-core",  "mac_core_8", [core]),
    Row("16-core", "mac_core_16", [core]),
    Row("32-core", "mac_core_32", [core], SLOW),

    # GMII, by cocotbext-eth at the other end.
    Row("gmii-resets",    "mac_gmii", some("(?<!=crg)$", resets)),
    Row("gmii-pause",     "mac_gmii", [pausing]),
    Row("gmii-stamps",    "mac_gmii", [stamps]),
    Row("gmii-line-rate", "mac_gmii_2500", [line_rate.keeps_the_line_rate], SLOW),
    Row("gmii-netlist",   "mac_gmii", [basics], SLOW, cells=True),

    # MII at 100 and 10 Mb/s.
    Row("mii-wire",   "mac_mii", [any_wire, *some("=10$", rates.keeps_the_rate_of_the_line),
                                  rates.follows_the_rate],
        all_but("both_directions_at_once/slow=0.0", "follows", "keeps",
                "survives_stopped_clocks/disabled=False")),
    Row("mii-resets", "mac_mii", some("=(rx|tx|rx_tx|sys)$", resets), SLOW),
    Row("mii-stamps", "mac_mii", some("=100?$", rates.frames_are_stamped), SLOW),

    # LiteEth's RMII. test_mac_rmii.py has more cases.
    Row("rmii-wire",   "mac_rmii", [basics.both_directions_at_once,
                                    basics.every_frame_is_counted_once,
                                    basics.receives_minimum_gap_bursts, basics.transmits_bursts], SLOW),
    Row("rmii-resets", "mac_rmii", some("=(crg|sys)$", resets), SLOW),
    Row("rmii-stamps", "mac_rmii", some("=100$", rates.frames_are_stamped), SLOW),

    # LiteEth's RGMII for ECP5, and ours, which follows the rate of the PHY's clock.
    Row("rgmii-all",    "mac_rgmii", [basics], SLOW),
    Row("rgmii-resets", "mac_rgmii", some("=(crg|sys)$", resets), SLOW),
    Row("rgmii-stamps", "mac_rgmii", [stamps.frames_are_stamped], SLOW),
    Row("rates-resets", "mac_rgmii_rates", some("=(crg|sys)$", resets)),
    Row("rates-stamps", "mac_rgmii_rates", [rates.frames_are_stamped], SLOW),

    # LiteEth's 1000BASE-X. A reset of its own Tx domain breaks the code on the line, which the
    # bench rejects. test_mac_1000basex.py has more cases.
    Row("1000basex-wire",   "mac_1000basex", [
        basics.both_directions_at_once, basics.drops_runs_of_fragments, basics.drops_wrong_fcs,
        basics.receives_lengths, basics.transmits_bursts], SLOW),
    Row("1000basex-resets", "mac_1000basex", some("=(rx|sys)$", resets), SLOW),
    Row("1000basex-stamps", "mac_1000basex", [stamps.frames_are_stamped], SLOW),

    # Other buses, and the MAC in a LiteX SoC whose main bus is one of these.
    Row("wishbone32-master", "mac_wishbone32", [masters]),
    Row("wishbone64-master", "mac_wishbone64", [masters], SLOW),
    Row("axi32-master",      "mac_axi32", [masters], f"{TWINS}|random"),
    Row("wishbone32-soc",    "soc_wishbone32", [socs], SLOW),  # a crossbar
    Row("wishbone64-soc",    "soc_wishbone64", [socs]),
    Row("axi-lite-soc",      "soc_axi_lite", [socs], SLOW),
    Row("axi32-soc",         "soc_axi32", [socs], SLOW),
    Row("axi64-soc",         "soc_axi64", [socs], SLOW),  # a crossbar
]
