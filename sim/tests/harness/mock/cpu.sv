// SPDX-License-Identifier: BSD-2-Clause
// A mock of hart 0 for the profiler, with the names of VexRiscv's registers. Retires the instructions of a list in RAM at
// 0x40008000; without one, waits in every fourth cycle and retires an instruction of user mode in every other one.
//
// An item has eight words: pc, instruction, ra, sp, tp, address that the latest trap interrupted, cycles until it retires
// after its predecessor (0: in the next cycle), and flags: privilege (bits 0, 1), interrupts enabled (2); why it takes
// those cycles: in the last stage (3), D-cache fills (4), page-table walk (5), I-cache fills (6), WFI (7). Instruction 0
// ends it.
module mock_cluster (
    input  wire        clk,
    output wire        wfi, retires,
    output wire [31:0] pc,
    output wire  [1:0] privilege,
    output wire        keep
);
    wire used;
    mock_hart  harts_0_cpu (clk, wfi, retires, pc, privilege, used);
    wire [1:0] interrupts;
    mock_controller controller (clk, interrupts);
    mock_hub hub (clk);
    assign keep = used ^ controller.keep;
endmodule

// Time, and when a hart wants to be woken. The mock's counters of cycles never stand still, so it never sleeps.
// And every 16th cycle an access to the PLIC, of eight kinds in turn: the claim of supervisor mode finds source 1, source 2,
// nothing; it is written; then machine mode's claim, a threshold, and source 1 twice more.
//
// In the same 128 cycles, line 1 rises four times: the second time it falls before a claim, and rises again; the third time
// it falls, too, and is claimed all the same. Line 2 rises in the cycle of a claim, which is not its own, and falls: the
// next one takes it.
module mock_controller (input wire clk, output wire [1:0] interrupts);
    reg [63:0] clint_time = 0, clint_compare_0 = 0;
    wire       keep = clint_compare_0 <= clint_time;
    wire       ack = clint_time[3:0] == 5;
    wire [2:0] what = clint_time[6:4];
    wire [6:0] at = clint_time[6:0];
    assign interrupts = {at >= 20 && at < 50, at >= 2 && at < 8 || at >= 30 && at < 40 || at >= 60 && at < 70 ||
                                              at >= 110 && at < 116};
    wire       io_bus_WE = what == 3;
    wire [31:0] data = what == 2 ? 0 : what == 1 ? 2 : 1;
    wire [29:0] io_bus_ADR = 30'h3c300000 | (what == 4 ? 30'h80001 : what == 5 ? 30'h80400 : 30'h80401);
    always @(posedge clk) begin
        clint_time <= clint_time + 1;
        if (clint_time == 64'hffffffff) clint_compare_0 <= clint_time;
    end
endmodule

// The memory port, in circles of 8 cycles: two beats of the hart's data, each of which waits for a cycle in which none is
// taken; then four of its instructions, of which the first waits for the hart's second; MAC 0 waits once with the hart.
module mock_hub (input wire clk);
    reg [2:0] cycle = 0;
    always @(posedge clk) cycle <= cycle + 1;
    wire io_hart_0_valid  = cycle < 4,                io_hart_0_ready  = cycle[0];
    wire io_fetch_0_valid = cycle >= 3,               io_fetch_0_ready = cycle > 3;
    wire io_dma_0_valid   = cycle == 0,               io_dma_0_ready   = 0;
    wire io_dma_1_valid   = 0,                        io_dma_1_ready   = 1;
endmodule

module mock_hart (
    input  wire        clk,
    output wire        wfi, retires,
    output reg  [31:0] pc = 0,
    output reg   [1:0] privilege = 1,
    output wire        keep
);
    reg [31:0] memory_to_writeBack_INSTRUCTION = 0, CsrPlugin_sepc = 0, CsrPlugin_mepc = 0;
    reg [31:0] RegFilePlugin_regFile [0:31];
    reg [29:0] CsrPlugin_stvec_base = 0, CsrPlugin_mtvec_base = 0;
    reg  [2:0] MmuPlugin_shared_state_1 = 0;
    reg        CsrPlugin_sstatus_SIE = 0, writeBack_arbitration_isValid = 0;
    mock_data_cache        dataCache_1 ();
    mock_instruction_cache IBusCachedPlugin_cache ();

    reg [31:0] cycle = 0, remaining = 0;
    reg  [9:0] item = 0;
    reg  [7:0] flags = 0;
    reg        waits = 0, list = 0;
    wire       playing = memory_to_writeBack_INSTRUCTION != 0, load = cycle == 0 || playing && retires;
    reg  [7:0] next;  // what is so in the next cycle

    assign wfi     = list ? waits : cycle[1:0] == 3;
    assign retires = list ? playing && remaining == 0 : cycle[0] == 0;
    // Registers that nothing reads would not be there.
    assign keep    = ^{CsrPlugin_sepc, CsrPlugin_mepc, CsrPlugin_stvec_base, CsrPlugin_mtvec_base,
                       MmuPlugin_shared_state_1, CsrPlugin_sstatus_SIE, writeBack_arbitration_isValid, dataCache_1.loader_valid,
                       IBusCachedPlugin_cache.lineLoader_valid, RegFilePlugin_regFile[item[4:0]]};

    always @(posedge clk) begin
        cycle <= cycle + 1;
        if (remaining != 0) remaining <= remaining - 1;
        next = remaining > 1 ? flags : 0;
        if (load) begin
            {memory_to_writeBack_INSTRUCTION, pc} <= sim.main_ram[4096 + 4 * item];
            {RegFilePlugin_regFile[2], RegFilePlugin_regFile[1]} <= sim.main_ram[4097 + 4 * item];
            {CsrPlugin_sepc, RegFilePlugin_regFile[4]} <= sim.main_ram[4098 + 4 * item];
            CsrPlugin_mepc        <= sim.main_ram[4098 + 4 * item][63:32];
            CsrPlugin_stvec_base  <= 32'hc0000100 >> 2;
            CsrPlugin_mtvec_base  <= 32'h100 >> 2;
            {flags, remaining}    <= sim.main_ram[4099 + 4 * item][39:0];
            privilege             <= sim.main_ram[4099 + 4 * item][33:32];
            CsrPlugin_sstatus_SIE <= sim.main_ram[4099 + 4 * item][34];
            list                  <= list || sim.main_ram[4096 + 4 * item][63:32] != 0;
            item                  <= item + 1;
            next = sim.main_ram[4099 + 4 * item][31:0] != 0 ? sim.main_ram[4099 + 4 * item][39:32] : 0;
        end
        writeBack_arbitration_isValid           <= next[3];
        dataCache_1.loader_valid                <= next[4];
        MmuPlugin_shared_state_1                <= {2'b0, next[5]};
        IBusCachedPlugin_cache.lineLoader_valid <= next[6];
        waits                                   <= next[7];
    end
endmodule

module mock_data_cache;
    reg loader_valid = 0;
endmodule

module mock_instruction_cache;
    reg lineLoader_valid = 0;
endmodule
