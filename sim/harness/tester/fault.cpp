// SPDX-License-Identifier: BSD-2-Clause
#include "fault.h"

std::vector<Departure> FaultInjector::pass(Departure departure) {
    const unsigned port = departure.port;
    const auto found = faults_.find({port, count_[port]++});
    std::vector<Departure> out;
    if (found == faults_.end()) {
        out.push_back(std::move(departure));
    } else {
        const Fault& fault = found->second;
        const int64_t size = departure.frame.size();
        const int64_t octet = fault.octet < 0 ? fault.octet + size : fault.octet;
        switch (fault.kind) {
            case Fault::kDrop: break;
            case Fault::kDuplicate: out = {departure, departure}; break;
            case Fault::kSwap: held_[port] = std::move(departure); return {};
            case Fault::kFlip:
                if (octet >= 0 && octet < size) departure.frame[octet] ^= 1 << fault.bit;
                if (fault.repair_fcs && size >= static_cast<int64_t>(kFcs)) {
                    departure.frame.resize(size - kFcs);
                    append_fcs(departure.frame);
                }
                out.push_back(std::move(departure));
        }
    }
    if (const auto held = held_.find(port); held != held_.end()) {
        out.push_back(std::move(held->second));
        held_.erase(held);
    }
    return out;
}
