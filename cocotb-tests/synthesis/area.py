# SPDX-License-Identifier: BSD-2-Clause
"""`./moderato area`: the tables of docs/fpga-mac.md."""

from bench.simulator import text
from synthesis.ecp5 import SYS_MHZ, cells, fmax, place, synthesise

DEVICES = {"mac_plain": "Moderato", "mac_urgent": "with urgent frames",
           "mac_pacing": "with adaptive moderation", "mac_both": "with both",
           "mac_unicast": "with 4 further addresses", "mac_pause": "with pause",
           "mac_jumbo": "for jumbo frames", "mac_rmon": "with RMON", "mac_vlan": "with VLANs",
           "mac_timestamp": "with time stamps",
           "mac_rx_checksum": "with sums of received frames",
           "mac_tx_checksum": "with checksums of sent frames",
           "mac_checksums": "with both of these", "mac_queues": "with two queues",
           "mac_launch": "with two queues, time stamps and launch times",
           "mac_gates": "with these and 64 gate entries",
           "mac_shaper": "with two queues and shapers",
           "mac_with_gather": "with frames in pieces",
           "mac_segment": "with checksums of sent frames and segments",
           "mac_merge": "with sums of received frames and marks for merging",
           "mac_flows": "with a table of 512 flows",
           "mac_flow_nat": "with a table of 512 flows whose addresses and ports it changes",
           "liteeth_gmii": "LiteEth"}
PLACED  = {"45F-8": list(DEVICES), "25F-6": ["mac_plain", "mac_both", "liteeth_gmii"]}
CELLS   = ["LUT4", "CCU2C", "TRELLIS_DPR16X4", "TRELLIS_FF", "DP16KD", "MULT18X18D"]


def row(*columns):
    print("|", " | ".join(map(str, columns)), "|", flush=True)


def area(seeds: list[int]) -> int:
    """Prints them, with nextpnr's `seeds`; returns the exit status."""
    folders = {name: synthesise(name, text(name)) for name in DEVICES}
    row("MAC", *CELLS)
    row(*["---"] * (1 + len(CELLS)))
    for name, folder in folders.items():
        used = cells(name, folder)
        row(DEVICES[name], *(used.get(cell, 0) for cell in CELLS))
    print()
    row("chip", "MAC", "seed", "placed TRELLIS_COMB", "sys", "eth_rx", "eth_tx")
    row(*["---"] * 7)
    for chip, names in PLACED.items():
        for name in names:
            for seed in seeds:
                report = place(name, folders[name], chip, SYS_MHZ[chip], seed)
                reached = fmax(report)
                row(chip, DEVICES[name], seed, report["utilization"]["TRELLIS_COMB"]["used"],
                    *(f"{reached[clock]:.1f}" for clock in ("sys", "eth_rx", "eth_tx")))
    return 0
