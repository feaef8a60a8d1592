// SPDX-License-Identifier: BSD-2-Clause
#include "stacks.h"

#include <algorithm>

namespace {

uint64_t busy(const CallTree::Cost& cost) { return cost.total() - cost.cycles[static_cast<unsigned>(Cause::kIdle)]; }

}  // namespace

nlohmann::ordered_json Stacks::tell(const Profiler& profiler) {
    using Json = nlohmann::ordered_json;
    Json harts = Json::array();
    telling_ = told_;
    for (unsigned hart = 0; hart < kHarts; ++hart) {
        const CallTree& tree = profiler.tree(hart);
        Busy& before = telling_[hart];
        const size_t from = before.size(), size = std::min(tree.size(), from + kMostNodes);
        Json nodes = Json::array(), cycles = Json::array();
        for (Node node = from; node < size; ++node)
            nodes.push_back({tree.parent(node), profiler.name(tree.function(node))});
        before.resize(size);
        for (Node node = 0; node < size; ++node) {
            const uint64_t now = busy(tree.cost(node));
            if (now == before[node]) continue;
            cycles.push_back({node, now - before[node]});
            before[node] = now;
        }
        harts.push_back({{"from", from}, {"nodes", nodes}, {"busy", cycles}});
    }
    return harts;
}
