// SPDX-License-Identifier: BSD-2-Clause
#include "profiler.h"

#include <algorithm>

#include "error.h"
#include "file.h"

void Profiler::start(const std::string& symbols, bool windowed, const std::string& timeline, uint64_t cycle) {
    auto run = std::make_unique<Run>(symbols, windowed, timeline, cycle);  // a bad file leaves what runs as it was
    run_ = std::move(run);
    if (!windowed) open();
}

void Profiler::require_running() const {
    if (!running()) throw Error("profile: none is under way; start one with symbols");
}

void Profiler::open() {
    run_->pending = {};
    run_->open = true;
}

void Profiler::close() {
    charge();
    run_->open = false;
}

CallTree::Cost Profiler::stop(const std::string& path) {
    close();
    const std::string text = run_->tree.text(run_->symbols);
    write_file(path, text.data(), text.size());
    if (!run_->timeline_path.empty()) {
        const std::string timeline = run_->timeline.text();
        write_file(run_->timeline_path, timeline.data(), timeline.size());
    }
    const CallTree::Cost sum = run_->tree.sum();
    run_.reset();
    return sum;
}

void Profiler::retire(uint64_t cycle, const Hart& hart) {
    run_->stack.retire(hart);
    const auto& frames = run_->stack.frames();
    for (auto frame = frames.rbegin(); frame != frames.rend() && frame->serial > run_->entered; ++frame)
        if (run_->open) ++run_->tree.cost(frame->node).entries;
    run_->entered = std::max(run_->entered, frames.back().serial);
    run_->timeline.retire(cycle, frames);
    charge();
}

void Profiler::charge() {
    if (run_->open) run_->tree.cost(run_->stack.top()) += run_->pending;
    run_->pending = {};
}
