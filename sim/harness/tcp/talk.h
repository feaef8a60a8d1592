// SPDX-License-Identifier: BSD-2-Clause
// TCP connections between tester and guest, or through the guest: lwIP at the lines, transferred octets, figures.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>

#include "ends.h"
#include "meter.h"
#include "stack.h"
#include "tester/capture.h"
#include "tester/tester.h"
#include "tester/waiting.h"

struct TalkPlan {
    enum Direction { kTowards, kFrom, kThrough } direction = kTowards;  // seen from the guest: in, out, through
    unsigned connections = 1, port = 0;
    uint64_t octets = 0;  // of each connection; 0: until the guest closes
    uint16_t tcp_port = 5001;
    uint32_t window = 1 << 20, seed = 1;
    bool check = true, refuse = false;
    uint64_t begin = 0;  // octets of all connections at which the window begins, if the total is unknown
    Receiving::Habits habits;
    std::vector<SegmentFault> faults;
    std::string pcap;  // folder, or empty
};

class Talk final : public Traffic {
public:
    Talk(const TalkPlan& plan, uint64_t start, const LineRate& rate);

    const char* busy() const override { return "connections are open; collect them first"; }
    // From the arrival of a fifth of all octets to the arrival of the first connection's last one.
    Window window() const override { return window_; }
    bool finished(uint64_t cycle) const override;  // every connection has ended
    uint64_t due() const override;
    bool advance(uint64_t cycle) override;
    PacketSource* source(unsigned port) override;
    std::vector<Departure> sent(Departure departure) override;
    void save_captures() const override;

    struct Connection {
        std::unique_ptr<Sending> sending;  // the tester's ends
        std::unique_ptr<Receiving> receiving;  // null: the guest's end, or not connected yet
        std::optional<uint64_t> ended_cycle;

        Outcome outcome() const;
        std::optional<uint64_t> connected_cycle() const;
        uint64_t octets() const { return receiving ? receiving->octets() : sending ? sending->octets() : 0; }
    };
    const std::vector<Connection>& connections() const { return connections_; }
    const TalkPlan& plan() const { return plan_; }
    const Meter& meter() const { return meter_; }
    uint64_t octets() const { return total_; }
    bool done() const;  // all connections are closed, after all octets

    // For an ended window: its octets, and the arrival of each of kParts equal parts of them.
    static constexpr unsigned kParts = 8;
    uint64_t window_octets() const;
    uint64_t part(unsigned part) const;

private:
    struct Arrival {
        uint64_t cycle, total;
    };

    TalkPlan plan_;
    LineRate rate_;
    Damage damage_;
    Meter meter_;
    std::map<unsigned, PcapWriter> in_, out_;
    std::vector<WaitingFrames> lines_;  // one at each port
    std::multimap<uint64_t, std::pair<unsigned, Octets>> arriving_;  // frames from the device, by their last bit
    Stack stack_;  // constructed before the ends, which use it
    std::vector<Connection> connections_;
    std::map<uint16_t, size_t> by_port_;  // connections, by the TCP port that connects
    std::vector<Arrival> arrivals_;
    uint64_t total_ = 0;
    Window window_;

    void open();
    void listen();
    err_t accept(tcp_pcb* pcb);
    std::unique_ptr<Receiving> receiver(size_t number, bool compared);
    bool vanished(unsigned port, const Segment& segment) const;
    void queue(unsigned port, Octets frame);
    void sends(unsigned port, uint64_t start, const Octets& frame);
    void moved(size_t number, uint64_t octets);
    void settle();
    uint64_t total_at(uint64_t cycle) const;
};
