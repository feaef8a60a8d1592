// SPDX-License-Identifier: BSD-2-Clause
// A hart's state in a cycle, as the profiler needs it.
#pragma once

#include <cstdint>

// The cause of a cycle: what the oldest instruction in the pipeline did, or waited for.
enum class Cause : uint8_t {
    kRetire,    // an instruction retired
    kPipeline,  // none did: a hazard, a branch, a multiplication or division, a refetch
    kFetch,     // the I-cache fills a line
    kData,      // the D-cache fills a line
    kStore,     // other waits of loads and stores: uncached accesses, fences, a store not yet accepted
    kTlb,       // the page-table walker is busy
    kIdle,      // WFI
};
constexpr unsigned kCauses = 7;
constexpr const char* kCauseNames[kCauses] = {"retire", "pipeline", "icache", "dcache", "lsu", "tlb", "idle"};

enum Privilege : uint8_t { kUser = 0, kSupervisor = 1, kMachine = 3 };

struct Hart {
    bool retired;     // an instruction retires in this cycle
    Cause cause;
    bool interrupts;  // supervisor interrupts are enabled: user mode, or sstatus.SIE in supervisor mode
    Privilege privilege;
    // Of the instruction that retires; registers have their values before it.
    uint32_t pc, instruction, ra, sp, tp;
    // Of the latest trap: the start of its handler, and the interrupted address.
    uint32_t trap_vector, trap_pc;
};
