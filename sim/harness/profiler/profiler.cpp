// SPDX-License-Identifier: BSD-2-Clause
#include "profiler.h"

#include <algorithm>

#include "error.h"
#include "file.h"

void Profiler::start(const Files& files, bool windowed, uint64_t cycle) {
    if (running()) throw Error("profile: one is in progress; stop it first");
    run_ = std::make_unique<Run>(files, windowed, cycle);
    if (!windowed) open();
}

void Profiler::require_running() const {
    if (!running()) throw Error("profile: none is in progress; start one with symbols");
}

Profiler::Run::Run(const Files& files, bool windowed, uint64_t cycle)
    : files(files), symbols(files.symbols), windowed(windowed) {
    for (auto& hart : harts) hart = std::make_unique<Charged>(symbols, files, tasks, cycle);
}

void Profiler::open() {
    for (auto& hart : run_->harts) hart->pending = {};
    run_->open = true;
}

void Profiler::close() {
    for (auto& hart : run_->harts) charge(*hart);
    run_->open = false;
}

namespace {

// Of hart n: the name that was given, with `.n` for all but the first.
void write_text(const std::string& path, unsigned hart, const std::string& text) {
    const std::string own = hart == 0 ? path : path + "." + std::to_string(hart);
    if (!path.empty()) write_file(own, text.data(), text.size());
}

}  // namespace

std::array<CallTree::Cost, kHarts> Profiler::stop(const std::string& path) {
    close();
    std::array<CallTree::Cost, kHarts> sums;
    for (unsigned hart = 0; hart < kHarts; ++hart) {
        const Charged& own = *run_->harts[hart];
        write_text(path, hart, own.tree.text(run_->symbols));
        write_text(run_->files.timeline, hart, own.timeline.text());
        write_text(run_->files.calls, hart, own.calls.text(own.tree));
        sums[hart] = own.tree.sum();
    }
    run_.reset();
    return sums;
}

void Profiler::retire(uint64_t cycle, Charged& own, const Hart& hart) {
    own.stack.retire(hart);
    const auto& frames = own.stack.frames();
    for (auto frame = frames.rbegin(); frame != frames.rend() && frame->serial > run_->entered; ++frame) {
        own.calls.entered(own.latest, *frame);
        if (run_->open) ++own.tree.cost(frame->node).entries;
    }
    own.latest = cycle;
    run_->entered = std::max(run_->entered, frames.back().serial);
    own.timeline.retire(cycle, frames);
    charge(own);
}

void Profiler::charge(Charged& own) {
    if (run_->open) own.tree.cost(own.stack.top()) += own.pending;
    own.pending = {};
}
