# SPDX-License-Identifier: BSD-2-Clause
"""The cases that several devices have: wires, buses, clock gates, sets of options.

Each row is a simulation of its own: `./moderato test cocotb-tests/wires/test_wires.py::NAME` runs it.
"""

from bench.simulation import Simulation as Row
from bench.simulation import some
from cases import (any_wire, basics, checksums, core, endings, faults, flow_pressure, flow_queues,
                  flow_resets, flow_segments, flows, line_rate, masters, merging, pausing, pieces,
                  pressure, rates, resets, rings, segments, simulated_phy, socs, stamps, tags,
                  two_queues)

SLOW = ""                 # all
SLOW_MEMORY = r"slow=0\.[^0]"

ROWS = [
    # The simulation PHY, which has all cases.
    Row("sim-all",        "mac_sim", [simulated_phy]),
    Row("sim-rings",      "mac_sim", [rings]),
    Row("sim-faults",     "mac_sim", [faults]),
    Row("sim-pressure",   "mac_sim", [pressure]),
    Row("sim-checksums",  "mac_sim", [checksums]),
    Row("sim-tags",       "mac_sim", [tags]),
    Row("sim-stamps",     "mac_sim", [stamps]),
    Row("sim-line-rate",  "mac_sim_2500", [line_rate]),
    Row("sim-queues",     "mac_queues_sim", [two_queues]),
    Row("sim-merging",    "mac_queues_sim", [merging]),

    # Frames in pieces. With a slow memory: in gated-options, in step with a MAC like this one.
    Row("pieces-pieces",   "mac_gather", [pieces], SLOW_MEMORY),
    Row("pieces-segments", "mac_gather", [segments], SLOW_MEMORY),
    Row("pieces-whole",    "mac_gather", [basics.transmits_bursts, basics.transmits_every_alignment,
                                          checksums, rings]),

    # Two MACs that forward to each other: with all that there is, and without anything else.
    Row("flows-all",     "flow_pair", [flows]),
    Row("flows-options", "flow_pair_all", [flows, flow_segments, flow_queues]),
    Row("flows-gated",   "flow_pair_gated", [flows]),
    Row("flows-pressure", "flow_pair", [flow_pressure], "for_long|link=10/"),
    Row("flows-plain",   "flow_pair_plain",
        some("way|must_see|rate|beside|ended|entry|off|ring|latency", flows)),
    Row("flows-resets",  "mac_flows_gmii", [flow_resets]),

    # One queue ends, the other one goes on: with all that there is; with frames in pieces and stamps,
    # and nothing else; with room for few frames only.
    Row("all-endings",        "mac_queues_gather", [endings]),
    Row("pieces-endings",     "mac_stamped_pieces", [endings]),
    Row("few-frames-endings", "mac_few_frames", [endings]),

    # Behind clock gates, in step with a MAC that has none: the cases in which its parts stop and wake.
    Row("gated-all",     "mac_gated", [simulated_phy], SLOW),
    Row("gated-pause",   "mac_gated", [pausing]),
    Row("gated-stamps",  "mac_gated", [stamps]),
    Row("gated-tags",    "mac_gated", [
        tags.a_wrong_bit_in_the_tag, tags.filters_by_vlan, tags.lost_frames_keep_their_tags,
        tags.pause_frames_have_no_tag, tags.puts_tags_in, tags.stops_and_starts_with_tags,
        tags.takes_tags_out]),
    Row("gated-options", "mac_all_gated", [  # two queues, frames in pieces and segments
        merging.marks_come_with_the_frames, two_queues.both_queues_both_ways,
        two_queues.each_adapts_its_moderation, two_queues.each_has_its_stamps,
        two_queues.late_interrupts_are_counted, two_queues.one_halts,
        two_queues.raised_in_the_same_clock, two_queues.senders_stop_in_turn,
        two_queues.stopped_and_started_in_turn, pieces.any_pieces_make_a_frame,
        pieces.stops_in_the_midst_of_a_frame, pieces.what_spoils_a_frame,
        segments.segments_are_what_scapy_makes, segments.stops_in_the_midst_of_a_packet,
        segments.what_spoils_a_packet], r"slow=0\.0"),

    # The MAC core on PHYs of 8, 16 and 32 bits.
    Row("8-core",  "mac_core_8", [core]),
    Row("16-core", "mac_core_16", [core]),
    Row("32-core", "mac_core_32", [core]),

    # GMII, by cocotbext-eth at the other end.
    Row("gmii-resets",    "mac_gmii", some("(?<!=crg)$", resets)),
    Row("gmii-pause",     "mac_gmii", [pausing]),
    Row("gmii-stamps",    "mac_gmii", [stamps]),
    Row("gmii-line-rate", "mac_gmii_2500", [line_rate.keeps_the_line_rate]),
    Row("gmii-netlist",   "mac_gmii", [basics], SLOW, cells=True),

    # MII at 100 and 10 Mb/s.
    Row("mii-wire",   "mac_mii", [any_wire, *some("=10$", rates.keeps_the_rate_of_the_line),
                                  rates.follows_the_rate], SLOW_MEMORY),
    Row("mii-resets", "mac_mii", some("=(rx|tx|rx_tx|sys)$", resets)),
    Row("mii-stamps", "mac_mii", some("=100?$", rates.frames_are_stamped), SLOW),

    # LiteEth's RMII. test_mac_rmii.py has the fast cases.
    Row("rmii-wire",   "mac_rmii", [basics.both_directions_at_once,
                                    basics.every_frame_is_counted_once,
                                    basics.receives_minimum_gap_bursts, basics.transmits_bursts], SLOW),
    Row("rmii-resets", "mac_rmii", some("=(crg|sys)$", resets)),
    Row("rmii-stamps", "mac_rmii", some("=100$", rates.frames_are_stamped), SLOW),

    # LiteEth's RGMII for ECP5, and ours, whose rate is that of the PHY's clock.
    Row("rgmii-all",    "mac_rgmii", [basics], SLOW),
    Row("rgmii-resets", "mac_rgmii", some("=(crg|sys)$", resets)),
    Row("rgmii-stamps", "mac_rgmii", [stamps.frames_are_stamped]),
    Row("rates-resets", "mac_rgmii_rates", some("=(crg|sys)$", resets)),
    Row("rates-stamps", "mac_rgmii_rates", [rates.frames_are_stamped]),

    # LiteEth's 1000BASE-X. A reset of its own Tx domain breaks the code on the line, and the bench takes
    # no such line. test_mac_1000basex.py has the fast cases.
    Row("1000basex-wire",   "mac_1000basex", [
        basics.both_directions_at_once, basics.drops_runs_of_fragments, basics.drops_wrong_fcs,
        basics.receives_lengths, basics.transmits_bursts], SLOW),
    Row("1000basex-resets", "mac_1000basex", some("=(rx|sys)$", resets)),
    Row("1000basex-stamps", "mac_1000basex", [stamps.frames_are_stamped]),

    # Other buses, and the MAC in a SoC of LiteX whose main bus is one of these.
    Row("wishbone32-master", "mac_wishbone32", [masters]),
    Row("wishbone64-master", "mac_wishbone64", [masters]),
    Row("axi32-master",      "mac_axi32", [masters]),
    Row("wishbone32-soc",    "soc_wishbone32", [socs]),  # a crossbar
    Row("wishbone64-soc",    "soc_wishbone64", [socs]),
    Row("axi-lite-soc",      "soc_axi_lite", [socs]),
    Row("axi32-soc",         "soc_axi32", [socs]),
    Row("axi64-soc",         "soc_axi64", [socs]),  # a crossbar
]
