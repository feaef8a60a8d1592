// SPDX-License-Identifier: BSD-2-Clause
#include "calls.h"

#include "error.h"

Calls::Calls(const Symbols& symbols, const std::vector<std::string>& functions) : symbols_(symbols) {
    if (!functions.empty()) wanted_.resize(symbols.size());
    for (const std::string& name : functions) {
        const Function function = symbols.named(name);
        if (function == kUnknownCode) throw Error("functions: '" + name + "' is not among the symbols");
        wanted_[function] = true;
    }
}

std::string Calls::text(const CallTree& tree) const {
    std::string text;
    for (const Row& row : rows_) text += std::to_string(row.cycle) + " " + tree.stack(row.node, symbols_) + "\n";
    return text;
}
