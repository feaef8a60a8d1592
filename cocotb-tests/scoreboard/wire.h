// SPDX-License-Identifier: BSD-2-Clause
// Both ends of the simulation PHY's pads: words at the pace of the link, frames with preamble and FCS.
#pragma once

#include <deque>
#include <functional>

#include "frames.h"

template <class Dut>
class Wire {
public:
    static constexpr unsigned MHZ = 100, GAP = 12;

    // Called for the next frame (without preamble, with FCS) when the wire is free; empty: none yet. `error` is
    // set if the PHY is to mark the frame.
    std::function<Octets(bool& error)> next;
    // Called with each frame that the MAC sent, without preamble.
    std::function<void(const Octets&)> sent;
    bool busy = false; // receiving

    Wire(Dut& dut, unsigned mbps) : dut(dut), mbps(mbps) { dut.pads_link_mbps = mbps; }

    void sample() {
        if (!dut.pads_tx_valid) return;
        uint32_t word = dut.pads_tx_data;
        for (unsigned n = 0; n < dut.pads_tx_bytes; n++) outward.push_back(uint8_t(word >> 8 * n));
        if (!dut.pads_tx_last) return;
        sent(Octets(outward.begin() + 8, outward.end()));
        outward.clear();
    }

    void drive() {
        now += mbps;
        dut.pads_rx_valid = 0;
        if (!busy) {
            if (now < free) return;
            error = false;
            inward = next(error);
            if (inward.empty()) return;
            static const uint8_t preamble[] = {0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0xD5};
            inward.insert(inward.begin(), preamble, preamble + 8);
            busy = true;
            at = 0;
            free = std::max(free, now);
        }
        unsigned count = unsigned(std::min<size_t>(4, inward.size() - at));
        if (now < free + count * 8 * MHZ) return;
        free += count * 8 * MHZ;
        uint32_t word = 0;
        for (unsigned n = 0; n < count; n++) word |= uint32_t(inward[at + n]) << 8 * n;
        at += count;
        busy = at < inward.size();
        dut.pads_rx_valid = 1;
        dut.pads_rx_data = word;
        dut.pads_rx_bytes = count;
        dut.pads_rx_last = !busy;
        dut.pads_rx_error = error;
        if (!busy) free += GAP * 8 * MHZ;
    }

private:
    Dut& dut;
    unsigned mbps;
    uint64_t now = 0, free = 0; // in clocks times `mbps`: when the wire is free
    Octets inward, outward;
    size_t at = 0;
    bool error = false;
};
