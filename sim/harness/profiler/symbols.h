// SPDX-License-Identifier: BSD-2-Clause
// Functions of the guest by address.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hart.h"

// Numbers a function; those below kFirstSymbol are code without symbols.
using Function = uint32_t;
constexpr Function kUserCode = 0, kUnknownCode = 1, kFirstSymbol = 2;

class Symbols {
public:
    Symbols() = default;
    // From a file of lines "address size name" (hexadecimal with 0x, or decimal). Ranges must not overlap.
    explicit Symbols(const std::string& path);

    // The function at an address. `hint` is tried first: mostly it is the previous one.
    Function at(uint32_t pc, Privilege privilege, Function hint) const {
        if (privilege == kUser) return kUserCode;
        if (hint >= kFirstSymbol && pc - rows_[hint].address < rows_[hint].size) return hint;
        return search(pc);
    }
    size_t size() const { return rows_.size(); }
    const std::string& name(Function function) const { return rows_[function].name; }
    // The function of that name, or kUnknownCode.
    Function named(const std::string& name) const;

private:
    struct Row {
        uint32_t address, size;
        std::string name;
    };
    std::vector<Row> rows_{{0, 0, "[user]"}, {0, 0, "[unknown]"}};  // sorted from kFirstSymbol on

    Function search(uint32_t pc) const;
};
