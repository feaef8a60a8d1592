// SPDX-License-Identifier: BSD-2-Clause
// Plays given frames, also malformed ones, into the ports, and records all frames that leave.
#pragma once

#include <map>
#include <string>

#include "capture.h"
#include "tester.h"

struct ReplayFrame {
    Octets octets;              // after the SFD
    uint64_t nanoseconds = 0;   // earliest time, after the replay's first time stamp
    uint64_t gap = kGap;        // octet times after the previous packet, at least
    bool error = false;         // the PHY signals an error
};

struct ReplayPlan {
    std::map<unsigned, std::vector<ReplayFrame>> in;  // by port
    std::map<unsigned, std::string> out, answers;     // pcap files by port
    uint64_t epoch = 0;                               // nanoseconds of the first time stamp
};

class Replay final : public Traffic {
public:
    Replay(ReplayPlan plan, uint64_t start, const LineRate& rate);

    const char* busy() const override { return "a replay is in progress; collect it first"; }
    bool finished(uint64_t cycle) const override;
    PacketSource* source(unsigned port) override;
    std::vector<Departure> sent(Departure departure) override;
    void answering(unsigned port, uint64_t cycle, const Octets& frame) override;
    void save_captures() const override;

    uint64_t offered(unsigned port) const;

private:
    class List final : public PacketSource {
    public:
        List(std::vector<ReplayFrame> frames, uint64_t start, const LineRate& rate)
            : frames_(std::move(frames)), start_(start), rate_(rate) {}
        uint64_t next_start(uint64_t line_end) const override;
        Packet take(uint64_t start) override;
        uint64_t offered() const { return next_; }
        bool finished() const { return next_ == frames_.size(); }

    private:
        std::vector<ReplayFrame> frames_;
        uint64_t start_, next_ = 0;
        LineRate rate_;
    };

    ReplayPlan plan_;
    std::map<unsigned, List> lists_;
    std::map<unsigned, PcapWriter> out_, answers_;
};
