// SPDX-License-Identifier: BSD-2-Clause
// Records when some functions are entered, and from where.
#pragma once

#include "call_stack.h"

class Calls {
public:
    // Raises an Error if a name is no function.
    Calls(const Symbols& symbols, const std::vector<std::string>& functions);

    // A function was entered at the end of a cycle.
    void entered(uint64_t cycle, const Frame& frame) {
        if (!wanted_.empty() && wanted_[frame.function]) rows_.push_back({cycle, frame.node});
    }

    // Lines "cycle stack": functions with semicolons between them; the entered one is last.
    std::string text(const CallTree& tree) const;

private:
    struct Row {
        uint64_t cycle;
        Node node;
    };
    const Symbols& symbols_;
    std::vector<bool> wanted_;  // by function; empty: none is
    std::vector<Row> rows_;
};
