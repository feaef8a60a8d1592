// SPDX-License-Identifier: BSD-2-Clause
// Cycles by call stack: a node is a function with all its callers.
#pragma once

#include <array>
#include <string>
#include <unordered_map>
#include <vector>

#include "symbols.h"

using Node = uint32_t;
constexpr Node kRoot = 0;  // no function is known

class CallTree {
public:
    struct Cost {
        std::array<uint64_t, kCauses> cycles{};
        uint64_t interrupts = 0;  // cycles with interrupts enabled
        uint64_t entries = 0;     // calls, traps and tail calls
        Cost& operator+=(const Cost& more);
        uint64_t total() const;
    };

    Node child(Node parent, Function function);
    size_t size() const { return rows_.size(); }  // nodes are numbered from kRoot on, callers before what they call
    Node parent(Node node) const { return rows_[node].parent; }
    Function function(Node node) const { return rows_[node].function; }
    const Cost& cost(Node node) const { return rows_[node].cost; }
    Cost& cost(Node node) { return rows_[node].cost; }
    Cost sum() const;

    // Functions with semicolons between them, the outermost one first.
    std::string stack(Node node, const Symbols& symbols) const;
    // A head line with names, then a line for each stack with cycles: figures, and the stack.
    std::string text(const Symbols& symbols) const;

private:
    struct Row {
        Node parent;
        Function function;
        Cost cost;
    };
    std::vector<Row> rows_{{kRoot, kUnknownCode, {}}};
    std::unordered_map<uint64_t, Node> children_;
};
