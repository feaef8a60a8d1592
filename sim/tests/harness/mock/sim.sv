// SPDX-License-Identifier: BSD-2-Clause
// A mock of the SoC for the harness's tests: the same pads, a console that echoes, and a router of two
// ports that forwards every IPv4 frame as it should, ARP as it is, and nothing else.
module sim (
    input  wire        sys_clk,
    input  wire        serial_sink_valid,
    input  wire  [7:0] serial_sink_data,
    output wire        serial_sink_ready,
    output reg         serial_source_valid,
    output reg   [7:0] serial_source_data,
    input  wire        serial_source_ready,

    input  wire        eth0_rx_valid, eth0_rx_last, eth0_rx_error, eth1_rx_valid, eth1_rx_last, eth1_rx_error,
    input  wire [31:0] eth0_rx_data, eth1_rx_data,
    input  wire  [2:0] eth0_rx_bytes, eth1_rx_bytes,
    output wire        eth0_tx_valid, eth0_tx_last, eth1_tx_valid, eth1_tx_last,
    output wire [31:0] eth0_tx_data, eth1_tx_data,
    output wire  [2:0] eth0_tx_bytes, eth1_tx_bytes,
    input  wire  [9:0] eth0_link_mbps, eth1_link_mbps,
    output wire [15:0] eth0_events, eth1_events,
    input  wire        eth0_datapath_clk,   eth0_moderation_clk,   eth1_datapath_clk,   eth1_moderation_clk,
    output wire        eth0_datapath_awake, eth0_moderation_awake, eth1_datapath_awake, eth1_moderation_awake,

    output reg         ended_off, ended_reset,

    output wire        cpu0_wfi,
    output wire        cpu0_trace_valid,
    output wire [31:0] cpu0_trace_pc,
    output wire  [1:0] cpu0_trace_privilege
);
    reg [31:0] cycle = 0;
    always @(posedge sys_clk) cycle <= cycle + 1;

    wire keep;
    mock_cluster ModeratoCluster (sys_clk, cpu0_wfi, cpu0_trace_valid, cpu0_trace_pc, cpu0_trace_privilege, keep);

    // Console: prints the text that starts the ROM, then what is typed; on '!' the mailbox at 0x40001000. Ctrl-D powers off,
    // Ctrl-R resets.
    reg [31:0] rom      [0:1023];
    reg [63:0] main_ram [0:8191];
    reg [15:0] at = 0, left = 0;
    reg        booted = 0, ready = 0;
    reg  [7:0] octet;
    // Memory is read in the clocked block only: what the backdoor writes wakes no combinational logic.
    assign serial_sink_ready = booted && ready && left == 0;
    always @(posedge sys_clk) begin
        serial_source_valid <= 0;
        ended_reset <= 0;
        ready <= cycle[9:0] == 0;  // slow: the harness has to wait for it
        if (!booted) begin
            octet = rom[at[11:2]][8 * at[1:0] +: 8];
            serial_source_valid <= octet != 0;
            serial_source_data  <= octet ^ {7'b0, keep && octet == 255};
            booted <= octet == 0;
            at     <= at + 1;
        end else if (left != 0) begin
            serial_source_valid <= 1;
            serial_source_data  <= main_ram[(16'h1004 + at) >> 3][8 * (at[2:0] ^ 3'd4) +: 8];
            left <= left - 1;
            at   <= at + 1;
        end else if (serial_sink_valid && serial_sink_ready) begin
            serial_source_valid <= 1;
            serial_source_data  <= serial_sink_data;
            at <= 0;
            if (serial_sink_data == 8'h04) ended_off <= 1;
            if (serial_sink_data == 8'h12) ended_reset <= 1;
            if (serial_sink_data == "!") left <= main_ram[16'h1000 >> 3][15:0];
        end
    end

    // Ports.
    wire forward01, forward10;
    mock_path #(.OUT(1)) path01 (sys_clk, eth0_rx_valid, eth0_rx_data, eth0_rx_last, eth0_rx_bytes, eth0_link_mbps,
        eth1_tx_valid, eth1_tx_data, eth1_tx_last, eth1_tx_bytes, forward01);
    mock_path #(.OUT(0)) path10 (sys_clk, eth1_rx_valid, eth1_rx_data, eth1_rx_last, eth1_rx_bytes, eth1_link_mbps,
        eth0_tx_valid, eth0_tx_data, eth0_tx_last, eth0_tx_bytes, forward10);
    // Gated clocks: for 100 cycles, one of them gets every edge, one every second, one every tenth, one none.
    wire starting = cycle < 100;
    assign eth0_datapath_awake   = starting;
    assign eth0_moderation_awake = starting && cycle[0];
    assign eth1_datapath_awake   = starting && cycle % 10 == 0;
    assign eth1_moderation_awake = 0;
    wire edge0, edge1, edge2, edge3;
    mock_gated gated0 (sys_clk, eth0_datapath_clk,   edge0);
    mock_gated gated1 (sys_clk, eth0_moderation_clk, edge1);
    mock_gated gated2 (sys_clk, eth1_datapath_clk,   edge2);
    mock_gated gated3 (sys_clk, eth1_moderation_clk, edge3);

    // Events: rx_completed (bit 2) of the port where a frame entered; rx_drop_ring (4) for each edge of its datapath's
    // clock, rx_drop_fifo (5) of its moderation's.
    assign eth0_events = {10'b0, edge1, edge0, 1'b0, forward01, 2'b0};
    assign eth1_events = {10'b0, edge3, edge2, 1'b0, forward10, 2'b0};
endmodule

// Reports an edge of `gated`, in the cycle after it.
module mock_gated (input wire clk, input wire gated, output wire rose);
    reg parity = 0, last = 0;
    always @(posedge gated) parity <= !parity;
    always @(posedge clk) last <= parity;
    assign rose = parity != last;
endmodule

// From one port to the other, store and forward.
module mock_path #(parameter OUT = 0) (
    input  wire        clk,
    input  wire        rx_valid,
    input  wire [31:0] rx_data,
    input  wire        rx_last,
    input  wire  [2:0] rx_bytes,
    input  wire  [9:0] link_mbps,
    output reg         tx_valid,
    output reg  [31:0] tx_data,
    output reg         tx_last,
    output reg   [2:0] tx_bytes,
    output reg         done
);
    localparam DEPTH = 4096;
    reg [31:0] words [0:DEPTH - 1];
    reg [11:0] write = 0, first = 0, read = 0;
    reg [15:0] lengths [0:63];
    reg        rewrite [0:63];
    reg  [5:0] produced = 0, consumed = 0;
    reg [15:0] length = 0, octet = 0;
    reg  [7:0] value;
    reg [15:0] sum;
    reg [16:0] carry;
    reg [31:0] crc, out;
    reg [31:0] debt = 0;  // of line time, in octets × 800
    reg  [2:0] count;
    reg        ip = 0, arp = 0;
    integer    i, b;

    // Guest's address at OUT is the source, the tester's the destination.
    function [7:0] address(input [15:0] n);
        case (n)
            0, 6:    address = 8'h02;
            1:       address = 8'h54;
            2:       address = 8'h73;
            3:       address = 8'h74;
            7:       address = 8'h4d;
            8:       address = 8'h6f;
            9:       address = 8'h64;
            5, 11:   address = OUT;
            default: address = 0;
        endcase
    endfunction

    always @(posedge clk) begin
        done <= 0;
        if (rx_valid) begin
            words[write] <= rx_data;
            write  <= write + 1;
            length <= rx_last ? 16'd0 : length + 16'd4;
            if (12'(write - first) == 5) begin
                ip  <= rx_data[15:0] == 16'h0008;
                arp <= rx_data[15:0] == 16'h0608;
            end
            if (rx_last) begin
                ip  <= 0;
                arp <= 0;
                if (ip || arp) begin
                    rewrite[produced] <= ip;
                    lengths[produced] <= length + rx_bytes;
                    produced <= produced + 1;
                    first    <= write + 1;
                    done     <= 1;
                end else write <= first;  // dropped
            end
        end

        tx_valid <= 0;
        if (debt >= link_mbps) debt <= debt - link_mbps;
        else begin
            debt <= 0;
            if (produced != consumed) begin
                count = lengths[consumed] - octet > 4 ? 4 : 3'(lengths[consumed] - octet);
                out   = 0;
                for (i = 0; i < 4; i = i + 1) if (i < count) begin
                    value = words[read][8 * i +: 8];
                    if (octet + i < 8) crc = ~32'd0;
                    else if (octet + i < lengths[consumed] - 4) begin
                        if (rewrite[consumed]) begin
                            if (octet + i < 20) value = address(octet + i - 8);
                            if (octet + i == 30) value = value - 1;  // TTL
                            if (octet + i == 32) begin  // header checksum: + 0x0100, ones' complement
                                carry = {1'b0, value, words[read][8 * i + 8 +: 8]} + 17'h100;
                                sum   = carry[15:0] + {15'b0, carry[16]};
                                value = sum[15:8];
                            end
                            if (octet + i == 33) value = sum[7:0];
                        end
                        crc = crc ^ value;
                        for (b = 0; b < 8; b = b + 1) crc = crc >> 1 ^ (crc[0] ? 32'hedb88320 : 0);
                    end else value = ~crc[8 * (octet + i - (lengths[consumed] - 4)) +: 8];
                    out[8 * i +: 8] = value;
                end
                tx_valid <= 1;
                tx_data  <= out;
                tx_bytes <= count;
                tx_last  <= octet + count == lengths[consumed];
                read     <= read + 1;
                octet    <= octet + count;
                debt     <= debt + 800 * count - link_mbps;
                if (octet + count == lengths[consumed]) begin
                    octet    <= 0;
                    consumed <= consumed + 1;
                    debt     <= debt + 800 * (count + 12) - link_mbps;
                end
            end
        end
    end
endmodule
