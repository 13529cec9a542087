#include "run/tree_devices.hpp"

#include "tree/device_tree.hpp"
#include "tree/tree_nodes.hpp"

namespace mmioscope::run {

namespace {

/// The path if it fits, otherwise its end after "~", as in a trace.
void set_path(std::string path, abi::RegionEntry& region) {
    if (path.size() >= abi::path_size) {
        path = "~" + path.substr(path.size() - (abi::path_size - 2));
    }
    path.copy(region.path, path.size());
}

void add_node(const tree::TreeNodes& tree, std::size_t node, std::vector<abi::RegionEntry>& to) {
    constexpr std::uint64_t reach = std::uint64_t{1} << 32;
    std::uint16_t index = 0;
    for (const auto& [base, size] : tree.reg(node)) {
        if (size == 0) {
            return; // the hypervisor stops here, too
        }
        abi::RegionEntry region{};
        region.base = base;
        region.size = size;
        region.reg_index = index++;
        set_path(tree.path(node), region);
        if (base < reach && size <= reach - base) {
            to.push_back(region);
        }
    }
}

} // namespace

wire::StreamHead tree_devices(const Bytes& tree) {
    wire::StreamHead head{};
    const tree::TreeNodes nodes(tree);
    for (std::size_t node = 0; node < nodes.size(); ++node) {
        if (!nodes.is_memory(node)) {
            add_node(nodes, node, head.regions);
        }
    }
    head.aliases = tree::aliases(tree);
    return head;
}

} // namespace mmioscope::run
