# SPDX-License-Identifier: BSD-2-Clause
"""Verilog that counts events in the CPU for which it has no pads: use of the memory port, interrupts by
hart, and edges of interrupt lines."""

import re

from .cores import core

# Cycles of a client of the memory port in which one of its beats was accepted, waited while another
# client's was accepted, or waited while none was.
USES = "beats", "behind", "stalled"


def pads(soc: dict) -> str:
    """Ports of the top module."""
    count, sources = len(core(soc).clients), soc["plic"]["sources"]
    return f"""\
    // The hub's clients, counted in the cycles after those with `metered`: {", ".join(USES)}.
    input  wire        metered,
    output reg  [63:0] hub_uses [{count}][{len(USES)}],
    // In the cycle with `claimed`, a hart took an interrupt from the PLIC.
    output wire  [7:0] claim_hart,
    output wire  [4:0] claim_source,
    // The PLIC's inputs, source 1 in bit 0; in the cycle with `switched`, those in `changed` are new.
    output reg  [{sources - 1}:0] line,
    output wire [{sources - 1}:0] changed,"""


def counting(soc: dict) -> str:
    """The logic that drives these ports; `claimed`, `switched` are wires of the top module."""
    cpu, sources = core(soc), soc["plic"]["sources"]
    nets = list(cpu.clients.values())
    valid, ready = map(", ".join, zip(*reversed(nets)))
    address, taken, write, source = cpu.claims
    return f"""\
    // A beat is taken when it is valid and ready. Nothing is counted while nobody looks.
    wire [{len(nets) - 1}:0] asks = {{{valid}}};
    wire [{len(nets) - 1}:0] gets = asks & {{{ready}}};
    reg  meter = 0;
    initial for (int client = 0; client < {len(nets)}; client++)
        for (int kind = 0; kind < {len(USES)}; kind++) hub_uses[client][kind] = 0;
    always @(posedge clk) begin
        meter <= metered;
        if (meter)
            for (int client = 0; client < {len(nets)}; client++)
                if (asks[client]) begin
                    if (gets[client]) hub_uses[client][0] <= hub_uses[client][0] + 1;
                    else if (|gets)   hub_uses[client][1] <= hub_uses[client][1] + 1;
                    else              hub_uses[client][2] <= hub_uses[client][2] + 1;
                end
    end

    // The read of a claim register that finds a source. Supervisor mode of hart h is context 2 h + 1;
    // context c's register is at 0x200004 + 0x1000 c, and the address is that of a word.
    wire [21:0] word = {address};
    assign claimed = {taken} && !{write} && {source} != 0 &&
                     word[21] && word[19] && word[10:0] == 11'h401;
    assign claim_hart   = word[18:11];
    assign claim_source = {source}[4:0];

    // A cycle late, as claims are: the one that comes together with a change was answered before it.
    reg [{sources - 1}:0] earlier = 0;
    initial line = 0;
    always @(posedge clk) begin
        line    <= {sources}'({cpu.lines});
        earlier <= line;
    end
    assign changed  = line ^ earlier;
    assign switched = |changed;
"""


def constants(soc: dict) -> str:
    """The same as C++ constants."""
    clients = core(soc).clients
    names = ", ".join(f'"{name}"' for name in clients)
    uses = ", ".join(f'"{use}"' for use in USES)
    lines = ", ".join(
        f"{{{_sources(mac, 'rx'):#x}, {_sources(mac, 'tx'):#x}}}" for mac in soc["macs"] or [{}]
    )
    return f"""\
constexpr unsigned kClients = {len(clients)}, kUses = {len(USES)};
constexpr const char* kClientNames[] = {{{names}}};
constexpr const char* kUseNames[] = {{{uses}}};
constexpr unsigned kSources = {soc["plic"]["sources"]};  // of the PLIC, numbered from 1
// Sources of each port, a bit for each: receive, transmit.
constexpr uint32_t kLines[kPorts][2] = {{{lines}}};"""


def _sources(mac: dict, direction: str) -> int:
    """The sources of all queues, source n in bit n. LiteEth's directions share a source."""
    return sum(1 << source for name, source in mac.items() if re.fullmatch(rf"{direction}1?_irq", name))
