// SPDX-License-Identifier: BSD-2-Clause
#include "call_tree.h"

#include <numeric>

CallTree::Cost& CallTree::Cost::operator+=(const Cost& more) {
    for (unsigned cause = 0; cause < kCauses; ++cause) cycles[cause] += more.cycles[cause];
    interrupts += more.interrupts;
    entries += more.entries;
    return *this;
}

uint64_t CallTree::Cost::total() const { return std::accumulate(cycles.begin(), cycles.end(), uint64_t{0}); }

Node CallTree::child(Node parent, Function function) {
    const auto [entry, added] = children_.try_emplace(uint64_t{parent} << 32 | function, rows_.size());
    if (added) rows_.push_back({parent, function, {}});
    return entry->second;
}

CallTree::Cost CallTree::sum() const {
    Cost sum;
    for (const Row& row : rows_) sum += row.cost;
    return sum;
}

std::string CallTree::stack(Node node, const Symbols& symbols) const {
    const Row& row = rows_[node];
    return (row.parent == kRoot ? "" : stack(row.parent, symbols) + ";") + symbols.name(row.function);
}

std::string CallTree::text(const Symbols& symbols) const {
    std::string text;
    for (const char* name : kCauseNames) text += std::string(name) + " ";
    text += "interrupts_enabled entries stack\n";
    std::vector<std::string> stacks(rows_.size());
    for (Node node = 0; node < rows_.size(); ++node) {
        const Row& row = rows_[node];
        const std::string& callers = stacks[row.parent];  // parents come first
        stacks[node] = (callers.empty() ? "" : callers + ";") + (node == kRoot ? "" : symbols.name(row.function));
        if (row.cost.total() == 0 && row.cost.entries == 0) continue;
        for (const uint64_t cycles : row.cost.cycles) text += std::to_string(cycles) + " ";
        text += std::to_string(row.cost.interrupts) + " " + std::to_string(row.cost.entries) + " " +
                (node == kRoot ? symbols.name(kUnknownCode) : stacks[node]) + "\n";
    }
    return text;
}
