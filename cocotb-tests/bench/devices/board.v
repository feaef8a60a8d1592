// SPDX-License-Identifier: BSD-2-Clause
// Around the SoC of a board with two RGMII ports: clocks, which Python would be too slow for.
// One for sys and one for each PHY, no two of them in step: every phase comes up. Those of the PHYs
// wait for `link`, as while an Ethernet PHY is held in reset.

`timescale 1ps / 1ps

module board #(
    parameter SYS_HALF_PS = 1,  // half of sys' period
    parameter UART_CLOCKS = 1   // for a byte
) (
    input        link,
    input [31:0] eth0_half_ps, eth1_half_ps,  // half of a PHY's period
    output       sys_clk,
    output       serial_source_valid,
    output [7:0] serial_source_data,
    input        serial_sink_valid,
    output       serial_sink_ready,
    input  [7:0] serial_sink_data,
    output       eth0_rx_clk, eth0_tx_clk, eth0_tx_ctl,
    input        eth0_rx_ctl,
    input  [3:0] eth0_rx_data,
    output [3:0] eth0_tx_data,
    output       eth1_rx_clk, eth1_tx_clk, eth1_tx_ctl,
    input        eth1_rx_ctl,
    input  [3:0] eth1_rx_data,
    output [3:0] eth1_tx_data,
    output       mdio0_mdc, mdio0_out, mdio1_mdc, mdio1_out,
    input        mdio0_in, mdio1_in
);
    reg sys = 0, eth0 = 0, eth1 = 0;

    // The UART takes its time: its FIFO has to be full now and then, as on a board.
    wire      valid;
    reg [9:0] busy = 0;
    always @(posedge sys) busy <= busy != 0 ? busy - 1 : valid ? UART_CLOCKS - 1 : 0;
    assign serial_source_valid = valid && busy == 0;

    always #SYS_HALF_PS sys = !sys;
    always begin if (!link) @(posedge link); #eth0_half_ps eth0 = 1; #eth0_half_ps eth0 = 0; end
    always begin if (!link) @(posedge link); #(eth1_half_ps + 1) eth1 = 1; #eth1_half_ps eth1 = 0; end

    assign sys_clk = sys, eth0_rx_clk = eth0, eth1_rx_clk = eth1;

    // The PHYs' reset, which not every board has, stays open, as do the pins of MDIO: what goes
    // through them is at mdio0 and mdio1 (board_soc.py).
    top soc (
        .sys_clk(sys),
        .serial_source_valid(valid), .serial_source_ready(busy == 0),
        .serial_source_data(serial_source_data),
        .serial_sink_valid(serial_sink_valid), .serial_sink_ready(serial_sink_ready),
        .serial_sink_data(serial_sink_data),
        .eth_clocks0_rx(eth0), .eth_clocks0_tx(eth0_tx_clk),
        .eth0_rx_ctl(eth0_rx_ctl), .eth0_rx_data(eth0_rx_data),
        .eth0_tx_ctl(eth0_tx_ctl), .eth0_tx_data(eth0_tx_data),
        .eth_clocks1_rx(eth1), .eth_clocks1_tx(eth1_tx_clk),
        .eth1_rx_ctl(eth1_rx_ctl), .eth1_rx_data(eth1_rx_data),
        .eth1_tx_ctl(eth1_tx_ctl), .eth1_tx_data(eth1_tx_data),
        .mdio0_mdc(mdio0_mdc), .mdio0_out(mdio0_out), .mdio0_in(mdio0_in),
        .mdio1_mdc(mdio1_mdc), .mdio1_out(mdio1_out), .mdio1_in(mdio1_in)
    );
endmodule
