// SPDX-License-Identifier: BSD-2-Clause
// One RFC 2544 trial: offers to some ports, checks of both directions, and the steady-state window.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "counters.h"
#include "capture.h"
#include "checker.h"
#include "fault.h"
#include "tester.h"

struct TrialPlan {
    std::map<unsigned, Offer> offers;  // by the port where they enter
    Device device = Device::kRouter;
    uint64_t seed = 1;
    std::vector<Fault> faults;
    std::string pcap;  // folder, or empty
};

class Trial final : public Traffic {
public:
    Trial(const TrialPlan& plan, uint64_t start, const LineRate& rate);
    ~Trial() override;

    const char* busy() const override { return "a trial is in progress; collect it first"; }
    Window window() const override { return {window_begin_, window_end_}; }
    bool finished(uint64_t cycle) const override { return cycle >= offered_cycle_; }
    uint64_t last_cycle() const override { return offered_cycle_; }
    uint64_t due() const override;
    bool advance(uint64_t cycle) override;
    PacketSource* source(unsigned port) override;
    std::vector<Departure> sent(Departure departure) override;
    bool judges() const override { return true; }
    bool judge(TestFrame identity, const Departure& departure) override;
    void save_captures() const override;

    // The end of the last bit of the last offered frame.
    uint64_t offered_cycle() const { return offered_cycle_; }
    // The window: begins when every port has offered a fifth, ends when the first port has offered all.
    uint64_t window_begin() const { return window_begin_; }
    uint64_t window_end() const { return window_end_; }
    // Where part `n` of the window begins, of kParts equal ones; part(kParts) is its end.
    static constexpr unsigned kParts = 8;
    uint64_t part(unsigned n) const { return window_begin_ + (window_end_ - window_begin_) * n / kParts; }

    struct Direction {
        Direction(const Generator& offered, Device device) : generator(offered), checker(generator, device) {}
        Generator generator;
        Checker checker;
    };
    const Direction* direction(unsigned port) const;

private:
    TrialPlan plan_;
    uint64_t offered_cycle_ = 0, window_begin_ = 0, window_end_ = kNever;
    uint64_t reached_ = 0;  // the latest cycle of advance()
    std::map<unsigned, std::unique_ptr<Direction>> directions_;
    FaultInjector faults_;
    std::map<unsigned, PcapWriter> in_, out_;
    class Recorder;  // a source that also records its packets
    std::map<unsigned, std::unique_ptr<Recorder>> recorders_;
};
