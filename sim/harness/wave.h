// SPDX-License-Identifier: BSD-2-Clause
// A waveform of some cycles, as an FST file: signals of the model, and texts from the caller. Only a model from traced.py
// has signals; in all others, this code is empty and costs nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "error.h"
#include "tester/line.h"

#include "verilated.h"
#if VM_TRACE
#include "verilated_fst_c.h"
#endif

struct WavePlan {
    std::string file, texts;  // paths; texts may be empty
    uint64_t from, until;  // cycles, both inclusive
    std::vector<std::string> signals;  // full names; none: all
    std::vector<std::pair<uint64_t, uint64_t>> gaps;  // cycles between them that are not shown, in order
};

#if VM_TRACE

class Wave {
public:
    Wave(WavePlan plan, VerilatedContext& model);
    ~Wave();  // closes the file with the cycles so far
    Wave(const Wave&) = delete;
    Wave& operator=(const Wave&) = delete;

    uint64_t from() const { return plan_.from; }
    // Shows a cycle. Returns the next one to show: kNever after the last one.
    uint64_t show(uint64_t cycle);
    // Ends the file. Raises an Error if it is not complete.
    void close();

private:
    struct Text {
        std::string name;
        std::vector<std::pair<uint64_t, std::string>> rows;  // from each cycle on, the text
        size_t next = 0;
        uint32_t code = 0;
        size_t longest = 1;
        std::vector<uint32_t> value;  // like strings in Verilog: the last character is in the lowest bits
    };
    WavePlan plan_;
    std::vector<Text> texts_;
    size_t gap_ = 0;  // the next one
    uint64_t cycle_ = 0, time_ = 0;
    uint32_t code_ = 0;  // of the cycle; the texts have the following codes
    VerilatedFstC file_;

    void read_texts();
    void advance();
    // Called by Verilator, like the same functions of a model.
    static void declare(void* wave, VerilatedFst* trace, uint32_t code);
    static void show_all(void* wave, VerilatedFst::Buffer* buffer);
    static void show_changes(void* wave, VerilatedFst::Buffer* buffer);
};

#else

struct Wave {
    Wave(const WavePlan&, VerilatedContext&) {
        throw Error("this simulator was made without signals to show; sim/harness/traced.py makes one with them");
    }
    uint64_t from() const { return 0; }
    uint64_t show(uint64_t) { return kNever; }
    void close() {}
};

#endif
