// SPDX-License-Identifier: BSD-2-Clause
#include "profiler.h"

#include <algorithm>

#include "error.h"
#include "file.h"

void Profiler::start(const Files& files, bool windowed, uint64_t cycle) {
    auto run = std::make_unique<Run>(files, windowed, cycle);  // a bad file leaves what runs as it was
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

namespace {

void write_text(const std::string& path, const std::string& text) {
    if (!path.empty()) write_file(path, text.data(), text.size());
}

}  // namespace

CallTree::Cost Profiler::stop(const std::string& path) {
    close();
    write_text(path, run_->tree.text(run_->symbols));
    write_text(run_->files.timeline, run_->timeline.text());
    write_text(run_->files.calls, run_->calls.text(run_->tree));
    const CallTree::Cost sum = run_->tree.sum();
    run_.reset();
    return sum;
}

void Profiler::retire(uint64_t cycle, const Hart& hart) {
    run_->stack.retire(hart);
    const auto& frames = run_->stack.frames();
    for (auto frame = frames.rbegin(); frame != frames.rend() && frame->serial > run_->entered; ++frame) {
        run_->calls.entered(run_->latest, *frame);
        if (run_->open) ++run_->tree.cost(frame->node).entries;
    }
    run_->latest = cycle;
    run_->entered = std::max(run_->entered, frames.back().serial);
    run_->timeline.retire(cycle, frames);
    charge();
}

void Profiler::charge() {
    if (run_->open) run_->tree.cost(run_->stack.top()) += run_->pending;
    run_->pending = {};
}
