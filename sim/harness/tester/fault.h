// SPDX-License-Identifier: BSD-2-Clause
// Damages frames between the device and the checker, to prove that the checker detects it.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "line.h"

struct Fault {
    enum Kind { kFlip, kDrop, kDuplicate, kSwap } kind = kFlip;
    unsigned port = 0;
    uint64_t frame = 0;  // n-th frame leaving the port
    int64_t octet = 0;   // flip: from the destination address, or negative from the end
    unsigned bit = 0;
    bool repair_fcs = false;
};

class FaultInjector {
public:
    void add(const Fault& fault) { faults_.emplace(std::pair{fault.port, fault.frame}, fault); }
    // The frames that the checker sees instead of this one: none, one or two.
    std::vector<Departure> pass(Departure departure);

private:
    std::map<std::pair<unsigned, uint64_t>, Fault> faults_;
    std::map<unsigned, uint64_t> count_;
    std::map<unsigned, Departure> held_;  // frames that wait to be exchanged with the next one
};
