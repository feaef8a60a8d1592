// SPDX-License-Identifier: BSD-2-Clause
// The only black box of the cluster: a data way of the D-cache. One write port with byte enables,
// one synchronous read port.
module Ram_1w_1rs #(
    parameter wordCount      = 0,
    parameter wordWidth      = 0,
    parameter clockCrossing  = 1'b0,
    parameter technology     = "auto",
    parameter readUnderWrite = "dontCare",
    parameter wrAddressWidth = 0,
    parameter wrDataWidth    = 0,
    parameter wrMaskWidth    = 1,
    parameter wrMaskEnable   = 1'b0,
    parameter rdAddressWidth = 0,
    parameter rdDataWidth    = 0
) (
    input                       wr_clk,
    input                       wr_en,
    input  [wrMaskWidth-1:0]    wr_mask,
    input  [wrAddressWidth-1:0] wr_addr,
    input  [wrDataWidth-1:0]    wr_data,
    input                       rd_clk,
    input                       rd_en,
    input  [rdAddressWidth-1:0] rd_addr,
    output reg [rdDataWidth-1:0] rd_data
);
    localparam LANE = wrDataWidth / wrMaskWidth;

    reg [wordWidth-1:0] mem [0:wordCount-1];
    integer lane;

    always @(posedge wr_clk)
        if (wr_en)
            for (lane = 0; lane < wrMaskWidth; lane = lane + 1)
                if (wr_mask[lane])
                    mem[wr_addr][lane*LANE +: LANE] <= wr_data[lane*LANE +: LANE];

    always @(posedge rd_clk)
        if (rd_en)
            rd_data <= mem[rd_addr];
endmodule
