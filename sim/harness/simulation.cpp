// SPDX-License-Identifier: BSD-2-Clause
#include "simulation.h"

#include <algorithm>
#include <utility>

#include "state/checkpoint.h"
#include "file.h"

// The loop -----------------------------------------------------------------------------------------

// One cycle: inputs if some are due, the device, then its outputs.
template <bool profiled> void Simulation::loop() {
    while (cycle_ < limit_) {
        ++cycle_;
        if (__builtin_expect(cycle_ >= due_, 0)) drive();
        model_.step();
        look<profiled>();
        if constexpr (VM_TRACE)
            if (cycle_ >= wave_due_) show_wave();
        if (__builtin_expect(!model_.resting(), 1)) circle_ = kNever;
        else if (cycle_ >= look_) sleep<profiled>();
    }
}

// Reads the device's outputs in a cycle.
template <bool profiled> void Simulation::look() {
    for (unsigned hart = 0; hart < kHarts; ++hart) counters_.idle[hart] += model_.wfi() >> hart & 1;
    if (const uint64_t attention = model_.attention(); __builtin_expect(attention != 0, 0)) observe(attention);
    if constexpr (profiled)
        for (unsigned hart = 0; hart < kHarts; ++hart) profiler_.cycle(cycle_, hart, model_.hart(hart));
}

// Skips cycles in which nothing happens: if the state after a period equals the state before, except for the time, this
// continues until the next timer or input. It remains valid after a run ends, while the loop drives no input.
template <bool profiled> void Simulation::sleep() {
    if (cycle_ >= still_) {
        if (!circling_) {
            if (cycle_ + 2 * kCircle >= due_) return;
            model_.remember();
            circling_ = true;
            circle_ = cycle_;
            look_ = cycle_ + kCircle;
            return;
        }
        circling_ = false;
        const uint64_t still = cycle_ == circle_ + kCircle ? model_.still(kCircle) : 0;
        still_ = cycle_ + still;
        patience_ = still >= kCircle ? kLeastPatience : std::min(2 * patience_, kMostPatience);
    }
    const uint64_t end = std::min({end_, due_ - 1, still_});
    const uint64_t passing = (std::max(end, cycle_) - cycle_) / kCircle * kCircle;
    model_.pass(passing);
    cycle_ += passing;
    slept_ += passing;
    for (uint64_t& idle : counters_.idle) idle += passing;
    if (profiled && passing)
        for (unsigned hart = 0; hart < kHarts; ++hart) profiler_.rest(cycle_, hart, model_.hart(hart), passing);
    look_ = cycle_ + patience_;
}

// An input that the device does not wait for.
void Simulation::wake() {
    circle_ = kNever;
    still_ = 0;
}

uint64_t Simulation::next_output() {
    plan();
    return cycle_ < still_ ? std::max(cycle_ + 1, std::min(due_, still_ + 1)) : cycle_ + 1;
}

void Simulation::advance(uint64_t limit) {
    constexpr uint64_t kSlice = 1 << 16;  // cycles between calls of progress(): about 40 ms
    found_ = stopped_ = false;
    end_ = limit;
    plan();
    while (cycle_ < limit && !found_ && !stopped_) {
        limit_ = std::min(limit, cycle_ + kSlice);
        if (profiler_.running()) loop<true>();
        else loop<false>();
        if (ending_) {
            console_.forget_expected();  // no command waits any more
            throw Ended(std::exchange(ending_, nullptr));
        }
        if (progress) progress(cycle_);
        if (traffic_ && traffic_->returns()) break;
    }
}

void Simulation::plan() {
    due_ = std::min(console_.due(), tester_.due());
    if (traffic_) due_ = std::min(due_, traffic_->due());
    if constexpr (VM_TRACE) due_ = std::min(due_, wave_due_);  // so that no shown cycle is skipped
}

void Simulation::drive() {
    Vtop& pads = model_.pads();
    if (cycle_ >= console_.due()) {
        if (const auto byte = console_.next(pads.type_ready, cycle_)) {
            pads.type_data = *byte;
            pads.type_toggle = !pads.type_toggle;
            wake();
        }
    }
    for (unsigned port = 0; port < kPorts; ++port) {
        Sender& sender = tester_.sender(port);
        if (cycle_ < sender.due()) continue;
        const auto word = sender.drive(cycle_, tester_.rate());
        if (word || pads.rx_valid[port]) wake();
        pads.rx_valid[port] = word.has_value();
        if (!word) continue;
        active_ = cycle_;
        pads.rx_data[port] = word->data;
        pads.rx_bytes[port] = word->bytes;
        pads.rx_last[port] = word->last;
        pads.rx_error[port] = word->error;
    }
    if (traffic_ && cycle_ >= traffic_->due()) advance_traffic();
    plan();
}

void Simulation::charge(bool on) {
    if (on) profiler_.open();
    else profiler_.close();
    model_.meter(on);
}

void Simulation::begin_window() {
    at_window_begin_ = counters_;
    if (profiler_.windowed()) charge(true);
}

void Simulation::end_window() {
    at_window_end_ = counters_;
    if (profiler_.windowed()) charge(false);
}

// Events up to the end of a cycle are in the counters when the next one begins.
void Simulation::advance_traffic() {
    const bool changed = traffic_->advance(cycle_);
    if (const std::string keys = traffic_->keys(); !keys.empty()) type(keys);
    const auto [begin, end] = traffic_->window();
    const bool backwards = begin && end && *end < *begin;  // it ended before it began: there is no window
    if (begin && cycle_ == *begin + 1 && !backwards) begin_window();
    if (end && cycle_ == *end + 1) end_window();
    if (changed) tester_.attach(traffic_.get(), cycle_);
}

void Simulation::observe(uint64_t attention) {
    circle_ = kNever;
    const Vtop& pads = model_.pads();
    if (attention & 1 && console_.printed(pads.print_data)) {
        found_ = true;
        limit_ = cycle_;  // ends the loop: the clock stops in the cycle of the byte
    }
    if (attention & 6 && !ended_) {
        ended_ = true;
        ending_ = attention & 2 ? "the guest powered off" : "the guest asked for a reset";
        limit_ = cycle_;
    }
    if (attention & 8) counters_.claim(pads.claim_hart, pads.claim_source);
    if (attention & 16)
        for (uint32_t changed = pads.changed; changed; changed &= changed - 1) {
            const unsigned bit = __builtin_ctz(changed);
            counters_.change(bit + 1, pads.line >> bit & 1);
            if (traffic_) traffic_->switched(cycle_, bit + 1, pads.line >> bit & 1);
        }
    attention >>= 5;
    if (!attention) return;
    active_ = cycle_;
    for (unsigned port = 0; port < kPorts; ++port, attention >>= 1) {
        if (!(attention & 1)) continue;
        const Word word{pads.tx_data[port], pads.tx_bytes[port], pads.tx_last[port] != 0, false};
        tester_.receive(word, port, cycle_);
        due_ = std::min(due_, tester_.due());  // the tester may have an answer
        if (traffic_) due_ = std::min(due_, traffic_->due());
    }
    for (; attention; attention &= attention - 1) {
        const unsigned bit = __builtin_ctzll(attention);
        ++counters_.events[bit / kEvents][bit % kEvents];
        if (profiler_.running()) profiler_.event(cycle_, bit / kEvents, bit % kEvents);
        if (traffic_) traffic_->happened(cycle_, bit / kEvents, bit % kEvents);
    }
}

// Running -------------------------------------------------------------------------------------------

void Simulation::run(uint64_t limit) { advance(limit); }

bool Simulation::expect(const std::string& text, uint64_t limit) {
    if (!console_.expect(text)) {
        advance(limit);
        if (!found_) {
            console_.forget_expected();
            return false;
        }
    }
    console_.forget_expected();
    return true;
}

void Simulation::type(const std::string& text) { console_.type(text, cycle_); }

bool Simulation::run_until_quiet(uint64_t quiet, uint64_t limit) {
    // It may continue after any time without events.
    while (!traffic_->finished(cycle_) && cycle_ < limit)
        advance(std::min(limit, cycle_ + std::max<uint64_t>(quiet, 1)));
    const uint64_t start = traffic_->start(), last = traffic_->last_cycle();
    const auto busy = [&] {
        return !traffic_->finished(cycle_) || tester_.answering() || cycle_ < std::max({active_, last, start}) + quiet;
    };
    while (busy() && cycle_ < limit) {
        const uint64_t next = std::max({cycle_ + 1, last, std::max(active_, start) + quiet});
        advance(std::min(limit, next));
    }
    return !busy();
}

void Simulation::set_link(unsigned mbps) {
    tester_.set_rate(LineRate(mbps, kSysClkHz));
    model_.pads().link_mbps = mbps;
    wake();
}

void Simulation::start_profile(const Profiler::Files& files, bool windowed) {
    profiler_.start(files, windowed, cycle_);
    at_profile_start_ = model_.uses();
    model_.meter(!windowed);
    wake();
}

Simulation::Costs Simulation::stop_profile(const std::string& path) {
    model_.meter(false);
    Costs costs{profiler_.stop(path), model_.uses()};
    for (unsigned client = 0; client < kClients; ++client)
        for (unsigned use = 0; use < kUses; ++use) costs.memory[client][use] -= at_profile_start_[client][use];
    return costs;
}

void Simulation::begin_wave(const WavePlan& plan) {
    if (wave_) throw Error("a wave is being made already; end it first");
    if (plan.from <= cycle_)
        throw Error("from: cycle " + std::to_string(plan.from) + " has passed; this is cycle " +
                    std::to_string(cycle_));
    if (plan.until < plan.from) throw Error("until: is before the first cycle");
    uint64_t shown = plan.from;  // the last cycle known to be shown
    for (const auto& [first, last] : plan.gaps) {
        if (first <= shown || last < first || last >= plan.until)
            throw Error("gaps: are ranges in order, with a shown cycle before, between and after them");
        shown = last + 1;
    }
    wave_ = std::make_unique<Wave>(plan, *model_.pads().contextp());
    wave_due_ = wave_->from();
    shown_ = 0;
}

void Simulation::show_wave() {
    model_.mark_changed();
    wave_due_ = wave_->show(cycle_);
    ++shown_;
    if (wave_due_ == kNever) end_wave();
}

uint64_t Simulation::end_wave() {
    wave_due_ = kNever;
    if (const auto wave = std::move(wave_)) wave->close();
    return shown_;
}

// Memory ---------------------------------------------------------------------------------------------

void Simulation::load(uint32_t address, const std::string& path) { model_.load(address, read_file(path), path); }

size_t Simulation::mailbox(uint32_t address, const std::string& path) {
    const auto content = read_file(path);
    std::vector<uint8_t> message;
    for (int shift = 0; shift < 32; shift += 8) message.push_back(content.size() >> shift & 0xff);
    message.insert(message.end(), content.begin(), content.end());
    model_.load(address, message, path);
    return content.size();
}

// Traffic --------------------------------------------------------------------------------------------

std::unique_ptr<Traffic> Simulation::end() {
    tester_.detach(cycle_);
    return std::move(traffic_);
}

Simulation::Snapshot Simulation::snapshot() const {
    Snapshot out{counters_, {}};
    for (unsigned port = 0; port < kPorts; ++port) out.egress[port] = tester_.egress(port);
    return out;
}

Counters Simulation::window() const {
    const auto [begin, end] = traffic_->window();
    const Counters& first = begin && cycle_ > *begin ? at_window_begin_ : counters_;
    const Counters& last = end && cycle_ > *end ? at_window_end_ : counters_;
    return last - first;
}

// Checkpoints -----------------------------------------------------------------------------------------

void Simulation::refuse_while_attached(const std::string& path, const char* what) const {
    if (traffic_) throw Error(path + what + ": " + traffic_->busy());
}

size_t Simulation::save(const std::string& path) {
    refuse_while_attached(path, ": not saved");
    Saver saver;
    state(saver);
    return write_checkpoint(path, saver.take());
}

void Simulation::restore(const std::string& path) {
    refuse_while_attached(path, ": not restored");
    if (profiler_.running()) throw Error(path + ": not restored: a profile is in progress; stop it first");
    if (wave_) throw Error(path + ": not restored: a wave is being made; end it first");
    const auto bytes = read_checkpoint(path);  // verified completely before anything changes
    Loader loader(bytes);
    state(loader);
    restored();
    if (!loader.finished()) throw Error(path + ": its content makes no sense; delete it", kBadCheckpoint);
}

void Simulation::restored() {
    model_.meter(profiler_.charging());
    at_profile_start_ = model_.uses();
    ended_ = false;
    look_ = 0;
    wake();
}
