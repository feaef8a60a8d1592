// SPDX-License-Identifier: BSD-2-Clause
// The memory at the MAC's AXI4 master: with adjustable delays, and errors at given addresses.
#pragma once

#include <cstring>
#include <deque>
#include <functional>
#include <unordered_set>

#include "frames.h"

template <class Dut>
class Memory {
public:
    static constexpr uint32_t SIZE = 1 << 24;

    uint64_t latency = 0;                                       // clocks from a read's request to its first beat
    double pause = 0;                                           // of each channel, each clock
    bool starved = false;                                       // nothing is accepted or answered
    std::unordered_set<uint32_t> bad;                           // addresses of beats with errors
    std::function<bool(uint32_t, bool)> refuses;                // of an address, of a write: further errors
    std::vector<uint8_t> bytes = std::vector<uint8_t>(SIZE);

    Memory(Dut& dut, Random& random) : dut(dut), random(random) {}

    uint32_t read32(uint32_t address) const {
        uint32_t value;
        memcpy(&value, &bytes[address], 4);
        return value;
    }
    void write32(uint32_t address, uint32_t value) { memcpy(&bytes[address], &value, 4); }
    bool idle() const { return reads.empty() && writes.empty() && answers.empty(); }

    // At the rising edge: accepts what was offered in the clock before it.
    void sample() {
        now++;
        if (dut.dma_arvalid && dut.dma_arready) reads.push_back({dut.dma_araddr, dut.dma_arlen + 1u, now + latency});
        if (dut.dma_awvalid && dut.dma_awready) writes.push_back({dut.dma_awaddr, dut.dma_awlen + 1u, 0});
        if (dut.dma_wvalid && dut.dma_wready) write_beat();
        if (dut.dma_rvalid && dut.dma_rready) {
            reads.front().address += 8;
            if (!--reads.front().beats) reads.pop_front();
            offers_read = false;
        }
        if (dut.dma_bvalid && dut.dma_bready) {
            answers.pop_front();
            offers_answer = false;
        }
    }

    // After the edge: offers for the next clock. An offer that was not accepted stays.
    void drive() {
        auto awake = [this] { return !starved && !(pause > 0 && random.chance(pause)); };
        dut.dma_arready = reads.size() < 4 && awake();
        dut.dma_awready = writes.size() < 4 && awake();
        dut.dma_wready = !writes.empty() && awake();
        if (!offers_read && !reads.empty() && reads.front().due <= now && awake()) {
            uint32_t address = reads.front().address;
            bool refused = refuse(address, false);
            uint64_t data;
            memcpy(&data, &bytes[address % SIZE], 8);
            dut.dma_rdata = refused ? random() : data;
            dut.dma_rresp = refused ? 2 : 0;
            dut.dma_rlast = reads.front().beats == 1;
            offers_read = true;
        }
        if (!offers_answer && !answers.empty() && awake()) {
            dut.dma_bresp = answers.front() ? 2 : 0;
            offers_answer = true;
        }
        dut.dma_rvalid = offers_read;
        dut.dma_bvalid = offers_answer;
    }

private:
    struct Burst {
        uint32_t address;
        unsigned beats;
        uint64_t due;
        bool refused = false;
    };

    bool refuse(uint32_t address, bool write) {
        return (!bad.empty() && bad.count(address)) || (refuses && refuses(address, write));
    }

    void write_beat() {
        Burst& burst = writes.front();
        if (refuse(burst.address, true)) {
            burst.refused = true;
        } else {
            uint64_t data = dut.dma_wdata;
            for (unsigned n = 0; n < 8; n++)
                if (dut.dma_wstrb >> n & 1) bytes[(burst.address + n) % SIZE] = uint8_t(data >> 8 * n);
        }
        burst.address += 8;
        if (!--burst.beats) {
            answers.push_back(burst.refused);
            writes.pop_front();
        }
    }

    Dut& dut;
    Random& random;
    uint64_t now = 0;
    std::deque<Burst> reads, writes;
    std::deque<bool> answers;
    bool offers_read = false, offers_answer = false;
};
