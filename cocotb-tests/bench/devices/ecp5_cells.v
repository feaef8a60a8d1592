// SPDX-License-Identifier: BSD-2-Clause
// Behaviour of ECP5 cells: Yosys' simulation library and what it leaves out, as far as our designs
// use it. What they do not use is missing here and ends the build or the simulation, not a guess.
// From Lattice FPGA-TN-02204 (sysMEM), FPGA-TN-02035 (high-speed I/O) and the mapping in Yosys'
// techlibs/lattice/brams_map_16kd.v.

`timescale 1ns / 1ps

`include "common_sim.vh"
`include "ccu2c_sim.vh"
`include "cells_ff.vh"

// Block RAM: written on port A, read on port B, 9, 18 or 36 bits wide; no initial content.
module DP16KD #(
    parameter DATA_WIDTH_A = 18, DATA_WIDTH_B = 18, WRITEMODE_A = "NORMAL", WRITEMODE_B = "NORMAL",
    parameter REGMODE_A = "NOREG", REGMODE_B = "NOREG", CLKAMUX = "CLKA", CLKBMUX = "CLKB",
    parameter RESETMODE = "SYNC", ASYNC_RESET_RELEASE = "SYNC", GSR = "ENABLED",
    parameter CSDECODE_A = "0b000", CSDECODE_B = "0b000"
) (
    input DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7, DIA6, DIA5,
          DIA4, DIA3, DIA2, DIA1, DIA0,
    input DIB17, DIB16, DIB15, DIB14, DIB13, DIB12, DIB11, DIB10, DIB9, DIB8, DIB7, DIB6, DIB5,
          DIB4, DIB3, DIB2, DIB1, DIB0,
    input ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3, ADA2, ADA1, ADA0,
    input ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3, ADB2, ADB1, ADB0,
    input CLKA, CEA, OCEA, WEA, RSTA, CSA2, CSA1, CSA0,
    input CLKB, CEB, OCEB, WEB, RSTB, CSB2, CSB1, CSB0,
    output DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8, DOA7, DOA6, DOA5,
           DOA4, DOA3, DOA2, DOA1, DOA0,
    output DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5,
           DOB4, DOB3, DOB2, DOB1, DOB0
);
    wire [17:0] dia = {DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7,
                       DIA6, DIA5, DIA4, DIA3, DIA2, DIA1, DIA0};
    wire [17:0] dib = {DIB17, DIB16, DIB15, DIB14, DIB13, DIB12, DIB11, DIB10, DIB9, DIB8, DIB7,
                       DIB6, DIB5, DIB4, DIB3, DIB2, DIB1, DIB0};
    wire [13:0] ada = {ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3, ADA2,
                       ADA1, ADA0};
    wire [13:0] adb = {ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3, ADB2,
                       ADB1, ADB0};

    // The position of a port's word in its row of 36 bits. Narrow words use their address's lower
    // bits, wide ones have byte enables there.
    function [5:0] place(input integer width, input [13:0] address);
        place = width == 36 ? 6'd0 : width == 18 ? 6'd18*address[4] : 6'd9*address[4:3];
    endfunction

    reg  [35:0] rows [0:511];
    wire [35:0] lanes = DATA_WIDTH_A == 36 ? {{9{ADA3}}, {9{ADA2}}, {9{ADA1}}, {9{ADA0}}}
                      : DATA_WIDTH_A == 18 ? {18'd0, {9{ADA1}}, {9{ADA0}}} : 36'h1ff;
    wire [35:0] written = WEA & CEA ? lanes << place(DATA_WIDTH_A, ada) : 36'd0;
    wire [35:0] data = (DATA_WIDTH_A == 36 ? {dib, dia} : {18'd0, dia}) << place(DATA_WIDTH_A, ada);

    integer row;
    initial for (row = 0; row < 512; row = row + 1) rows[row] = 36'd0;
    always @(posedge CLKA)
        rows[ada[13:5]] <= rows[ada[13:5]] & ~written | data & written;

    // What is written in the clock in which it is read comes out undefined.
    reg  [35:0] read;
    wire [35:0] undefined = ada[13:5] == adb[13:5] ? written & {$random, $random} : 36'd0;
    always @(posedge CLKB)
        if (CEB) read <= (rows[adb[13:5]] ^ undefined) >> place(DATA_WIDTH_B, adb);

    assign {DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5,
            DOB4, DOB3, DOB2, DOB1, DOB0} = DATA_WIDTH_B == 36 ? read[35:18] : read[17:0];
    assign {DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8, DOA7, DOA6, DOA5,
            DOA4, DOA3, DOA2, DOA1, DOA0} = DATA_WIDTH_B == 36 ? read[17:0] : 18'd0;

    always @(posedge CLKA)
        if (WEB | RSTA | RSTB | CSA2 | CSA1 | CSA0 | CSB2 | CSB1 | CSB0 | (!OCEB)) begin
            $display("%m: this model has no writes on port B, no resets, no chip selects");
            $fatal;
        end
    generate
        if (!(DATA_WIDTH_A == 9 || DATA_WIDTH_A == 18 || DATA_WIDTH_A == 36)
            || !(DATA_WIDTH_B == 9 || DATA_WIDTH_B == 18 || DATA_WIDTH_B == 36)
            || REGMODE_B != "NOREG" || CLKAMUX != "CLKA" || CLKBMUX != "CLKB")
            $error("this model has no such configuration");
    endgenerate
endmodule

// Delay of an I/O pin. The boards use none: their PHYs delay the clocks.
module DELAYG #(parameter DEL_MODE = "USER_DEFINED", DEL_VALUE = 0) (input A, output Z);
    assign Z = A;
    generate if (DEL_VALUE != 0) $error("this model has no delay"); endgenerate
endmodule

// Double data rate: Q0 from the rising edge and Q1 from the falling edge after it, in step.
module IDDRX1F #(parameter GSR = "ENABLED") (input D, SCLK, RST, output reg Q0, Q1);
    reg rise, fall;
    always @(posedge SCLK) {rise, Q0, Q1} <= {D, rise, fall};
    always @(negedge SCLK) fall <= D;
endmodule

// D0 while the clock is high, then D1.
module ODDRX1F #(parameter GSR = "ENABLED") (input SCLK, RST, D0, D1, output Q);
    reg high, low;
    always @(posedge SCLK) {high, low} <= {D0, D1};
    assign Q = SCLK ? high : low;
endmodule

// No cell, but what two flip-flops in a row may do: a bit that changes around the clock's edge is
// taken over by that edge or by the next one, each bit as it likes.
module synchronizer #(parameter WIDTH = 1) (input clk, input [WIDTH-1:0] i, output [WIDTH-1:0] o);
    reg  [WIDTH-1:0] earlier = 0, taken = 0, second = 0;
    reg  [31:0] late;
    always @(posedge clk) begin
        late = $random;
        earlier <= i;
        taken  <= i ^ ((i ^ earlier) & late[WIDTH-1:0]);
        second <= taken;
    end
    assign o = second;
endmodule
