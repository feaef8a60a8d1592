// SPDX-License-Identifier: BSD-2-Clause
#include "wave.h"

#if VM_TRACE

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include "soc_config.h"

namespace {

constexpr char kScope[] = "derived";  // scope of the cycle and the texts
constexpr uint64_t kPicoseconds = 1000000000000;

// Time of the cycle's beginning, since reset.
uint64_t picoseconds(uint64_t cycle) {
    return static_cast<uint64_t>(static_cast<unsigned __int128>(cycle) * kPicoseconds / kSysClkHz);
}

std::vector<uint32_t> as_value(const std::string& text, size_t characters) {
    std::vector<uint32_t> value((characters + 3) / 4);
    for (size_t i = 0; i < text.size(); ++i)
        value[i / 4] |= static_cast<uint32_t>(static_cast<uint8_t>(text[text.size() - 1 - i])) << 8 * (i % 4);
    return value;
}

}  // namespace

Wave::Wave(WavePlan plan, VerilatedContext& model) : plan_(std::move(plan)) {
    read_texts();
    // The writer reports no error, so this check detects a file that cannot be written.
    if (!std::ofstream(plan_.file)) throw file_error(plan_.file, "cannot be written");
    file_.set_time_unit("1ps");
    file_.set_time_resolution("1ps");
    uint32_t codes = 2;
    for (const Text& text : texts_) codes += text.value.size();
    file_.spTrace()->addInitCb(declare, this, kScope, false, codes);
    file_.spTrace()->addFullCb(show_all, 0, this);
    file_.spTrace()->addChgCb(show_changes, 0, this);
    model.trace(&file_, 99);
    for (const std::string& signal : plan_.signals) file_.dumpvars(1, signal);
    if (!plan_.signals.empty()) file_.dumpvars(1, kScope);
    file_.open(plan_.file.c_str());
}

Wave::~Wave() { file_.close(); }

// A line is "CYCLE NAME TEXT": from that cycle on, the signal has this text, which may be empty.
void Wave::read_texts() {
    if (plan_.texts.empty()) return;
    std::ifstream file(plan_.texts);
    if (!file) throw file_error(plan_.texts, "cannot be read");
    std::map<std::string, size_t> places;
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        uint64_t cycle = 0;
        std::string name, text;
        if (!(words >> cycle >> name)) throw Error(plan_.texts + ": '" + line + "' is not CYCLE NAME TEXT");
        std::getline(words >> std::ws, text);
        const auto [place, added] = places.emplace(name, texts_.size());
        if (added) texts_.emplace_back().name = name;
        Text& own = texts_[place->second];
        if (!own.rows.empty() && own.rows.back().first > cycle)
            throw Error(plan_.texts + ": '" + line + "' is before an earlier line of its signal");
        own.longest = std::max(own.longest, text.size());
        own.rows.emplace_back(cycle, text);
    }
    for (Text& text : texts_) text.value = as_value("", text.longest);
}

void Wave::declare(void* wave, VerilatedFst* trace, uint32_t code) {
    auto& own = *static_cast<Wave*>(wave);
    const auto bus = [&](uint32_t at, const std::string& name, size_t bits, auto declared) {
        (trace->*declared)(at, name.c_str(), -1, VerilatedTraceSigDirection::NONE, VerilatedTraceSigKind::VAR,
                           VerilatedTraceSigType::LOGIC, static_cast<int>(bits) - 1, 0);
    };
    trace->pushPrefix(kScope, VerilatedTracePrefixType::SCOPE_MODULE);
    own.code_ = code;
    bus(code, "cycle", 64, &VerilatedFst::declQuad);
    code += 2;
    for (Text& text : own.texts_) {
        text.code = code;
        bus(code, text.name, 8 * text.longest, &VerilatedFst::declWide);
        code += text.value.size();
    }
    trace->popPrefix();
}

void Wave::show_all(void* wave, VerilatedFst::Buffer* buffer) {
    const auto& own = *static_cast<Wave*>(wave);
    buffer->fullQData(buffer->oldp(own.code_), own.cycle_, 64);
    for (const Text& text : own.texts_)
        buffer->fullWData(buffer->oldp(text.code), text.value.data(), static_cast<int>(8 * text.longest));
}

void Wave::show_changes(void* wave, VerilatedFst::Buffer* buffer) {
    const auto& own = *static_cast<Wave*>(wave);
    buffer->chgQData(buffer->oldp(own.code_), own.cycle_, 64);
    for (const Text& text : own.texts_)
        buffer->chgWData(buffer->oldp(text.code), text.value.data(), static_cast<int>(8 * text.longest));
}

// Advances the texts to this cycle.
void Wave::advance() {
    for (Text& text : texts_) {
        const size_t before = text.next;
        while (text.next < text.rows.size() && text.rows[text.next].first <= cycle_) ++text.next;
        if (text.next != before) text.value = as_value(text.rows[text.next - 1].second, text.longest);
    }
}

uint64_t Wave::show(uint64_t cycle) {
    cycle_ = cycle;
    time_ = picoseconds(cycle);
    advance();
    file_.dump(time_);
    if (cycle >= plan_.until) return kNever;
    if (gap_ == plan_.gaps.size() || cycle + 1 < plan_.gaps[gap_].first) return cycle + 1;
    return plan_.gaps[gap_++].second + 1;
}

void Wave::close() {
    file_.close();
    // The header is written last. If that write failed, or an earlier one, these fields are zero: first the kind and size of
    // the block, then the first time, then the last one.
    uint8_t header[25] = {};
    std::ifstream(plan_.file, std::ios::binary).read(reinterpret_cast<char*>(header), sizeof header);
    uint64_t last = 0;
    for (size_t i = 17; i < sizeof header; ++i) last = last << 8 | header[i];
    if (last != time_) throw Error(plan_.file + ": cannot be written completely; free some space and try again");
}

#endif
