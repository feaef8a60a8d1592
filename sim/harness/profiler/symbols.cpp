// SPDX-License-Identifier: BSD-2-Clause
#include "symbols.h"

#include <algorithm>
#include <sstream>

#include "error.h"
#include "file.h"

Symbols::Symbols(const std::string& path) {
    const auto bytes = read_file(path);
    std::istringstream lines(std::string(bytes.begin(), bytes.end()));
    unsigned number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        std::istringstream words(line);
        Row row;
        words.unsetf(std::ios::basefield);  // both 16 and 0x10
        if (!(words >> row.address >> row.size >> row.name))
            throw Error(path + ": line " + std::to_string(number) + " is not 'address size name'");
        rows_.push_back(row);
    }
    const auto first = rows_.begin() + kFirstSymbol;
    std::sort(first, rows_.end(), [](auto& a, auto& b) { return a.address < b.address; });
    for (size_t n = kFirstSymbol + 1; n < rows_.size(); ++n)
        if (rows_[n].address - rows_[n - 1].address < rows_[n - 1].size)
            throw Error(path + ": " + rows_[n - 1].name + " and " + rows_[n].name + " overlap");
}

Function Symbols::search(uint32_t pc) const {
    auto row = std::upper_bound(rows_.begin() + kFirstSymbol, rows_.end(), pc,
                                [](uint32_t address, const Row& row) { return address < row.address; });
    --row;
    return pc - row->address < row->size ? row - rows_.begin() : kUnknownCode;
}

Function Symbols::named(const std::string& name) const {
    const auto row = std::find_if(rows_.begin(), rows_.end(), [&](auto& row) { return row.name == name; });
    return row == rows_.end() ? kUnknownCode : row - rows_.begin();
}
