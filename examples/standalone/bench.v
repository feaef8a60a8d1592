// SPDX-License-Identifier: BSD-2-Clause
// The MAC in a design without LiteX: registers on AXI4-Lite, rings in a RAM on AXI4, and a loopback
// cable at GMII. The bench sends a frame, receives it, and compares it.
`timescale 1ns / 1ps

module bench;
`include "moderato_regs.vh"

    localparam RX_RING = 32'h1000, TX_RING = 32'h1100, RX_BUFFER = 32'h2000, TX_BUFFER = 32'h3000;
    localparam RING_ORDER = 2, BUFFER_BYTES = 2048, LENGTH = 61;
    localparam [47:0] STATION = 48'h02_4d_6f_64_00_00;

    reg clk = 0, phy_clk = 0, rst = 1;
    always #5 clk = !clk;
    always #4 phy_clk = !phy_clk;

    // Registers ------------------------------------------------------------------------------------

    reg  [11:0] awaddr = 0, araddr = 0;
    reg  [31:0] wdata = 0;
    reg         awvalid = 0, wvalid = 0, bready = 0, arvalid = 0, rready = 0;
    reg  [3:0]  wstrb = 15;
    wire        awready, wready, bvalid, arready, rvalid;
    wire [1:0]  bresp, rresp;
    wire [31:0] rdata;

    task automatic fail(input [64*8-1:0] what);
        begin
            $display("FAILED: %0s", what);
            $fatal;
        end
    endtask

    task automatic write(input [31:0] address, input [31:0] value, input [3:0] strobes, input [1:0] resp);
        begin
            @(negedge clk);
            awaddr = address[11:0]; wdata = value; wstrb = strobes;
            awvalid = 1; wvalid = 1; bready = 1;
            @(posedge clk); while (!awready) @(posedge clk);
            @(negedge clk); awvalid = 0; wvalid = 0;
            while (!bvalid) @(negedge clk);
            if (bresp != resp) fail("the answer to a write");
            @(negedge clk); bready = 0;
        end
    endtask

    task automatic set(input [31:0] address, input [31:0] value);
        write(address, value, 15, 0);
    endtask

    task automatic get(input [31:0] address, output [31:0] value);
        begin
            @(negedge clk);
            araddr = address[11:0]; arvalid = 1; rready = 1;
            @(posedge clk); while (!arready) @(posedge clk);
            @(negedge clk); arvalid = 0;
            while (!rvalid) @(negedge clk);
            value = rdata;
            if (rresp != 0) fail("the answer to a read");
            @(negedge clk); rready = 0;
        end
    endtask

    // Memory: one burst at a time in each direction, one beat per clock ----------------------------

    reg  [63:0] memory [0:2047];
    wire [31:0] m_araddr, m_awaddr;
    wire [7:0]  m_arlen, m_awlen, m_wstrb;
    wire [63:0] m_wdata;
    wire        m_arvalid, m_rready, m_awvalid, m_wvalid, m_wlast, m_bready;
    reg  [31:0] read_at = 0, write_at = 0;
    reg  [8:0]  reads = 0;  // beats to come
    reg         writing = 0, written = 0;
    always @(posedge clk) begin
        if (m_arvalid && reads == 0) begin read_at <= m_araddr; reads <= m_arlen + 1; end
        else if (reads != 0 && m_rready) begin read_at <= read_at + 8; reads <= reads - 1; end
        if (m_awvalid && !writing && !written) begin write_at <= m_awaddr; writing <= 1; end
        else if (writing && m_wvalid) begin
            for (integer lane = 0; lane < 8; lane = lane + 1)
                if (m_wstrb[lane]) memory[write_at[13:3]][8*lane +: 8] <= m_wdata[8*lane +: 8];
            write_at <= write_at + 8;
            if (m_wlast) begin writing <= 0; written <= 1; end
        end else if (written && m_bready) written <= 0;
    end

    task automatic put(input [31:0] address, input [31:0] word);
        memory[address[13:3]][32*address[2] +: 32] = word;
    endtask

    function automatic [31:0] at(input [31:0] address);
        at = memory[address[13:3]][32*address[2] +: 32];
    endfunction

    // +spoil=1, 2, 3 make an expectation wrong, so that a test can check that the bench fails.
    integer spoil = 0;
    initial if (!$value$plusargs("spoil=%d", spoil)) spoil = 0;

    // The frame's octet at a position: our own address twice, then numbers.
    function automatic [7:0] octet(input integer place);
        octet = place < 12 ? STATION[8*(5 - place % 6) +: 8] : 7*place;
    endfunction

    // The MAC with a loopback cable ----------------------------------------------------------------

    wire       irq_rx, irq_tx, tx_en;
    wire [7:0] tx_data;
    moderato mac (
        .clk(clk), .rst(rst), .irq_rx(irq_rx), .irq_tx(irq_tx),
        .gmii_rx_clk(phy_clk), .gmii_tx_clk(phy_clk),
        .gmii_rx_dv(tx_en), .gmii_rx_data(tx_data), .gmii_tx_en(tx_en), .gmii_tx_data(tx_data),
        .gmii_tx_er(),
        .s_axi_awaddr(awaddr), .s_axi_awvalid(awvalid), .s_axi_awready(awready),
        .s_axi_wdata(wdata), .s_axi_wstrb(wstrb), .s_axi_wvalid(wvalid), .s_axi_wready(wready),
        .s_axi_bresp(bresp), .s_axi_bvalid(bvalid), .s_axi_bready(bready),
        .s_axi_araddr(araddr), .s_axi_arvalid(arvalid), .s_axi_arready(arready),
        .s_axi_rdata(rdata), .s_axi_rresp(rresp), .s_axi_rvalid(rvalid), .s_axi_rready(rready),
        .m_axi_awaddr(m_awaddr), .m_axi_awlen(m_awlen), .m_axi_awvalid(m_awvalid),
        .m_axi_awready(!writing && !written), .m_axi_awburst(), .m_axi_awsize(), .m_axi_awcache(),
        .m_axi_awprot(),
        .m_axi_wdata(m_wdata), .m_axi_wstrb(m_wstrb), .m_axi_wlast(m_wlast), .m_axi_wvalid(m_wvalid),
        .m_axi_wready(writing), .m_axi_bvalid(written), .m_axi_bresp(2'd0), .m_axi_bready(m_bready),
        .m_axi_araddr(m_araddr), .m_axi_arlen(m_arlen), .m_axi_arvalid(m_arvalid),
        .m_axi_arready(reads == 0), .m_axi_arburst(), .m_axi_arsize(), .m_axi_arcache(),
        .m_axi_arprot(),
        .m_axi_rdata(memory[read_at[13:3]]), .m_axi_rlast(reads == 1), .m_axi_rvalid(reads != 0),
        .m_axi_rresp(2'd0), .m_axi_rready(m_rready)
    );

    // Preamble, frame and FCS on the cable. The bench computes the FCS itself, bit by bit (IEEE 802.3,
    // 3.2.9), because the MAC would accept its own wrong FCS.
    reg     [31:0] crc = ~32'd0;
    integer        sent = 0;
    always @(posedge phy_clk) if (tx_en) begin
        if (sent < 8) begin
            if (tx_data != (sent < 7 ? 8'h55 : 8'hd5)) fail("the preamble");
        end else if (sent < 8 + LENGTH) begin
            if (tx_data != octet(sent - 8 + (spoil == 1))) fail("an octet on the cable");
            crc = crc ^ tx_data;
            repeat (8) crc = (crc >> 1) ^ (crc[0] ? 32'hedb88320 : 0);
        end else if (sent < 8 + LENGTH + 4) begin
            if (tx_data != ~crc[7:0] + (spoil == 2)) fail("the FCS");
            crc = crc >> 8;
        end else fail("the length on the cable");
        sent = sent + 1;
    end

    // Driver ---------------------------------------------------------------------------------------

    reg [31:0] value;
    integer place;
    initial begin
        #400_000 fail("nothing came back in time");
    end
    initial begin
        for (place = 0; place < 2048; place = place + 1) memory[place] = 0;
        #100 rst = 0;
        #100 get(MODERATO_ID, value);
        if (value != MODERATO_ID_VALUE) fail("ID");
        write(MODERATO_RX_RING_BASE, 32'h55, 4'b0001, 2);  // part of a word: SLVERR

        set(MODERATO_MAC_LOW, {STATION[23:16], STATION[31:24], STATION[39:32], STATION[47:40]});
        set(MODERATO_MAC_HIGH, {16'd0, STATION[7:0], STATION[15:8]});
        set(MODERATO_RX_RING_BASE, RX_RING);
        set(MODERATO_TX_RING_BASE, TX_RING);
        set(MODERATO_RX_RING_ORDER, RING_ORDER);
        set(MODERATO_TX_RING_ORDER, RING_ORDER);
        set(MODERATO_RX_FRAMES, 1);
        set(MODERATO_CTRL, MODERATO_CTRL_RX_ENABLE | MODERATO_CTRL_TX_ENABLE);

        put(RX_RING + MODERATO_DESC_ADDRESS, RX_BUFFER);
        put(RX_RING + MODERATO_DESC_CONTROL, BUFFER_BYTES);
        set(MODERATO_RX_DOORBELL, 1);
        set(MODERATO_RX_REARM, 0);

        for (place = 0; place < LENGTH; place = place + 1)
            memory[(TX_BUFFER + place) >> 3][8*(place % 8) +: 8] = octet(place);
        put(TX_RING + MODERATO_DESC_ADDRESS, TX_BUFFER);
        put(TX_RING + MODERATO_DESC_CONTROL, LENGTH);
        set(MODERATO_TX_DOORBELL, 1);

        wait (irq_rx);
        // Completions are in memory before the interrupt.
        value = at(RX_RING + MODERATO_DESC_STATUS);
        if (value != (MODERATO_DESC_STATUS_PHASE | LENGTH)) fail("STATUS of the received frame");
        for (place = 0; place < LENGTH; place = place + 1) begin
            value = RX_BUFFER + MODERATO_RX_OFFSET + place;
            if (memory[value[13:3]][8*value[2:0] +: 8] != octet(place + (spoil == 3))) fail("an octet in memory");
        end
        if (sent != 8 + LENGTH + 4) fail("the length on the cable");
        if (at(TX_RING + MODERATO_DESC_STATUS) != MODERATO_DESC_STATUS_PHASE) fail("STATUS of the sent frame");
        set(MODERATO_RX_REARM, 1);
        if (irq_rx) fail("the interrupt is still active after REARM");
        get(MODERATO_RX_GOOD_FRAMES, value);
        if (value != 1) fail("RX_GOOD_FRAMES");
        $display("PASSED: %0d octets left and came back", LENGTH);
        $finish;
    end
endmodule
