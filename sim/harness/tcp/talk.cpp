// SPDX-License-Identifier: BSD-2-Clause
#include "talk.h"

#include <algorithm>

#include "stream/pattern.h"
#include "tester/octets.h"

namespace {

constexpr uint16_t kFirstPort = 49152;

unsigned receiving_port(const TalkPlan& plan) { return plan.direction == TalkPlan::kThrough ? 1 : plan.port; }

}  // namespace

Talk::Talk(const TalkPlan& plan, uint64_t start, const LineRate& rate)
    : Traffic(start), plan_(plan), rate_(rate), damage_(plan.faults),
      stack_(plan.window, start, [this](unsigned port, Octets frame) { queue(port, std::move(frame)); }),
      connections_(plan.connections) {
    for (unsigned port = 0; port < kPorts; ++port) {
        lines_.emplace_back(rate, [this, port](uint64_t taken, const Octets& frame) { sends(port, taken, frame); });
        if (!plan.pcap.empty()) in_[port], out_[port];
    }
    if (plan.direction != TalkPlan::kTowards && !plan.refuse) listen();
    if (plan.direction != TalkPlan::kFrom) open();
}

PacketSource* Talk::source(unsigned port) { return &lines_[port]; }

void Talk::open() {
    const bool through = plan_.direction == TalkPlan::kThrough;
    const unsigned port = through ? 0 : plan_.port;
    const IpAddress to = through ? tester(1).ip : guest(port).ip;
    for (size_t k = 0; k < connections_.size(); ++k) {
        // Through the guest, the receiver's octets count.
        auto counts = [this, k, through](uint64_t octets) {
            if (!through) moved(k, octets);
        };
        const auto vanish = through ? std::nullopt : plan_.habits.vanish_after;
        connections_[k].sending = std::make_unique<Sending>(pattern_key(plan_.seed, k), plan_.octets, vanish, counts);
        by_port_[kFirstPort + k] = k;
        connections_[k].sending->connect(tester(port).ip, kFirstPort + k, to, plan_.tcp_port);
    }
}

void Talk::listen() {
    const IpAddress ip = tester(receiving_port(plan_)).ip;
    ip_addr_t own;
    IP_ADDR4(&own, ip[0], ip[1], ip[2], ip[3]);
    tcp_pcb* pcb = tcp_new();
    tcp_bind(pcb, &own, plan_.tcp_port);
    pcb = tcp_listen(pcb);
    tcp_arg(pcb, this);
    tcp_accept(pcb, [](void* self, tcp_pcb* accepted, err_t) { return static_cast<Talk*>(self)->accept(accepted); });
}

// The port identifies the connection; an unknown one is the next connection.
err_t Talk::accept(tcp_pcb* pcb) {
    if (!pcb) return ERR_OK;
    size_t number = static_cast<size_t>(pcb->remote_port) - kFirstPort;
    const bool named =
        pcb->remote_port >= kFirstPort && number < connections_.size() && !connections_[number].receiving;
    if (!named) {
        const auto free = std::find_if(connections_.begin(), connections_.end(),
                                       [](const Connection& connection) { return !connection.receiving; });
        if (free == connections_.end()) return ERR_VAL;  // too many connections: lwIP resets it
        number = free - connections_.begin();
    }
    const auto key = named && plan_.check ? std::optional(pattern_key(plan_.seed, number)) : std::nullopt;
    by_port_[pcb->remote_port] = number;
    connections_[number].receiving =
        std::make_unique<Receiving>(key, plan_.habits, [this, number](uint64_t octets) { moved(number, octets); });
    connections_[number].receiving->accept(pcb);
    return ERR_OK;
}

// Frames ------------------------------------------------------------------------------------------------

void Talk::queue(unsigned port, Octets frame) {
    append_fcs(frame);
    for (auto& [passing, lost] : damage_.pass(port, kIn, std::move(frame))) {
        const auto segment = parse_segment(passing);
        if (!lost) lines_[port].add(Stack::now(), std::move(passing));
        else if (segment) meter_.passed(port, kIn, *segment, Stack::now());  // it was sent, and lost
    }
}

// The line accepts it.
void Talk::sends(unsigned port, uint64_t start, const Octets& frame) {
    if (const auto found = in_.find(port); found != in_.end())
        found->second.add(nanoseconds(start + rate_.cycles(kPreamble), kSysClkHz), frame);
    if (const auto segment = parse_segment(frame))
        meter_.passed(port, kIn, *segment, start + rate_.cycles(kPreamble + frame.size()));
}

std::vector<Departure> Talk::sent(Departure departure) {
    const unsigned port = departure.port;
    if (const auto found = out_.find(port); found != out_.end())
        found->second.add(nanoseconds(departure.start, kSysClkHz), departure.frame);
    if (const auto segment = parse_segment(departure.frame); segment && fcs_ok(departure.frame))
        meter_.passed(port, kOut, *segment, departure.end);
    std::vector<Departure> seen;
    for (auto& [frame, lost] : damage_.pass(port, kOut, std::move(departure.frame))) {
        if (lost) continue;
        const MacAddress own = tester(port).mac;
        const auto segment = parse_segment(frame);
        if (segment && fcs_ok(frame) && std::equal(own.begin(), own.end(), frame.begin()))
            arriving_.emplace(departure.end, std::pair(port, frame));
        departure.frame = std::move(frame);
        seen.push_back(departure);
    }
    return seen;
}

uint64_t Talk::due() const {
    uint64_t due = arriving_.empty() ? kNever : arriving_.begin()->first;
    if (!finished(0)) due = std::min(due, stack_.due());
    for (const Connection& connection : connections_)
        if (connection.receiving) due = std::min(due, connection.receiving->due());
    return due == kNever ? kNever : due + 1;
}

// After the lines: segments of lwIP start in the next cycle at the earliest.
bool Talk::advance(uint64_t cycle) {
    Stack::set_now(cycle - 1);
    for (; !arriving_.empty() && arriving_.begin()->first < cycle; arriving_.erase(arriving_.begin())) {
        const auto& [port, frame] = arriving_.begin()->second;
        if (!vanished(port, *parse_segment(frame))) stack_.input(port, frame);
        settle();
    }
    if (stack_.due() < cycle) stack_.tick();
    settle();
    return true;
}

// After lwIP: the ends continue.
void Talk::settle() {
    for (Connection& connection : connections_) {
        if (connection.ended_cycle) continue;
        if (connection.sending) connection.sending->advance();
        if (connection.receiving) connection.receiving->advance();
        if (connection.outcome() != Outcome::kNone) connection.ended_cycle = Stack::now();
    }
}

bool Talk::vanished(unsigned port, const Segment& segment) const {
    if (port != receiving_port(plan_)) return false;
    const auto found = by_port_.find(plan_.direction == TalkPlan::kTowards ? segment.destination : segment.source);
    if (found == by_port_.end()) return false;
    const Connection& connection = connections_[found->second];
    return (connection.sending && connection.sending->outcome() == Outcome::kVanished) ||
           (connection.receiving && connection.receiving->outcome() == Outcome::kVanished);
}

// Connections -------------------------------------------------------------------------------------------

// A vanished end sends nothing to the other one, which has to detect it.
Outcome Talk::Connection::outcome() const {
    const Outcome sent = sending ? sending->outcome() : Outcome::kNone;
    const Outcome received = receiving ? receiving->outcome() : Outcome::kNone;
    if (!sending) return received;
    if (!receiving || received == Outcome::kVanished) return sent;
    if (sent != Outcome::kNone && sent != Outcome::kClosed) return sent;
    if (received != Outcome::kNone && received != Outcome::kClosed) return received;
    return sent == received ? sent : Outcome::kNone;
}

std::optional<uint64_t> Talk::Connection::connected_cycle() const {
    return sending ? sending->connected_cycle() : receiving ? receiving->connected_cycle() : std::nullopt;
}

bool Talk::finished(uint64_t) const {
    return std::all_of(connections_.begin(), connections_.end(),
                       [](const Connection& connection) { return connection.ended_cycle.has_value(); });
}

bool Talk::done() const {
    return std::all_of(connections_.begin(), connections_.end(), [&](const Connection& connection) {
        return connection.outcome() == Outcome::kClosed && (!plan_.octets || connection.octets() == plan_.octets);
    });
}

// The window --------------------------------------------------------------------------------------------

void Talk::moved(size_t number, uint64_t octets) {
    total_ += octets;
    arrivals_.push_back({Stack::now(), total_});
    const uint64_t all = plan_.octets * connections_.size(), begin = all ? (all + 4) / 5 : plan_.begin;
    if (!window_.begin && total_ >= begin) window_.begin = Stack::now();
    const Connection& connection = connections_[number];
    const bool last = plan_.octets ? connection.octets() >= plan_.octets : connection.receiving->ended();
    // If one connection ends before the window begins, there is no common steady state.
    if (last && !window_.end) window_.end = Stack::now();
}

// Octets that had arrived at the end of a cycle.
uint64_t Talk::total_at(uint64_t cycle) const {
    const auto after = std::upper_bound(arrivals_.begin(), arrivals_.end(), cycle,
                                        [](uint64_t at, const Arrival& arrival) { return at < arrival.cycle; });
    return after == arrivals_.begin() ? 0 : std::prev(after)->total;
}

uint64_t Talk::window_octets() const { return total_at(*window_.end) - total_at(*window_.begin); }

uint64_t Talk::part(unsigned part) const {
    if (part == 0) return *window_.begin;
    const uint64_t wanted = total_at(*window_.begin) + (window_octets() * part + kParts - 1) / kParts;
    return std::lower_bound(arrivals_.begin(), arrivals_.end(), wanted,
                            [](const Arrival& arrival, uint64_t total) { return arrival.total < total; })
        ->cycle;
}

void Talk::save_captures() const {
    for (const auto& [port, file] : in_) file.save(plan_.pcap + "/port" + std::to_string(port) + "-in.pcap");
    for (const auto& [port, file] : out_) file.save(plan_.pcap + "/port" + std::to_string(port) + "-out.pcap");
}
