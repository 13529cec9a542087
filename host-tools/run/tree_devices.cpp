#include "run/tree_devices.hpp"

#include "tree/device_tree.hpp"

#include <libfdt.h>

#include <array>
#include <optional>
#include <string_view>

namespace mmioscope::run {

namespace {

/// A property as big-endian cells.
class Cells {
public:
    Cells(const Bytes& tree, int node, const char* property) {
        int bytes = 0;
        cells_ = static_cast<const fdt32_t*>(fdt_getprop(tree.data(), node, property, &bytes));
        count_ = cells_ == nullptr ? 0 : bytes / static_cast<int>(sizeof(fdt32_t));
    }

    bool there() const { return cells_ != nullptr; }
    int count() const { return count_; }

    /// The number of `length` cells from `at` on; of more than two, the lowest 64 bits: the others
    /// are flags (PCI, chip selects).
    std::uint64_t number(int at, int length) const {
        std::uint64_t value = 0;
        for (int i = at; i < at + length; ++i) {
            value = value << 32 | fdt32_ld(cells_ + i);
        }
        return value;
    }

private:
    const fdt32_t* cells_;
    int count_;
};

/// Takes `address` on the far side of `bus` to the side of its parent, `parent`.
std::optional<std::uint64_t> translate(const Bytes& tree, int bus, int parent,
                                       std::uint64_t address) {
    const Cells ranges(tree, bus, "ranges");
    if (!ranges.there() || ranges.count() == 0) {
        return ranges.there() ? std::optional(address) : std::nullopt;
    }
    const int child_cells = fdt_address_cells(tree.data(), bus);
    const int parent_cells = fdt_address_cells(tree.data(), parent);
    const int size_cells = fdt_size_cells(tree.data(), bus);
    if (child_cells < 1 || parent_cells < 1 || size_cells < 1) {
        return std::nullopt;
    }
    const int entry = child_cells + parent_cells + size_cells;
    for (int at = 0; at + entry <= ranges.count(); at += entry) {
        const std::uint64_t child = ranges.number(at, child_cells);
        const std::uint64_t size = ranges.number(at + child_cells + parent_cells, size_cells);
        if (address >= child && address - child < size) {
            return address - child + ranges.number(at + child_cells, parent_cells);
        }
    }
    return std::nullopt;
}

/// The address that the root's children would have for `address` on `bus`.
std::optional<std::uint64_t> to_root(const Bytes& tree, int bus, std::uint64_t address) {
    std::optional<std::uint64_t> there = address;
    while (bus > 0 && there) {
        const int parent = fdt_parent_offset(tree.data(), bus);
        there = parent < 0 ? std::nullopt : translate(tree, bus, parent, *there);
        bus = parent;
    }
    return there;
}

bool is_memory(const Bytes& tree, int node) {
    const void* type = fdt_getprop(tree.data(), node, "device_type", nullptr);
    return type != nullptr && std::string_view(static_cast<const char*>(type)) == "memory";
}

/// The path where it fits, else its end behind "~", as in a trace.
void set_path(const Bytes& tree, int node, abi::RegionEntry& region) {
    std::array<char, 512> buffer{};
    fdt_get_path(tree.data(), node, buffer.data(), static_cast<int>(buffer.size()));
    std::string path = buffer.data();
    if (path.size() >= abi::path_size) {
        path = "~" + path.substr(path.size() - (abi::path_size - 2));
    }
    path.copy(region.path, path.size());
}

void add_node(const Bytes& tree, int node, std::vector<abi::RegionEntry>& to) {
    constexpr std::uint64_t reach = std::uint64_t{1} << 32;
    const Cells reg(tree, node, "reg");
    const int bus = fdt_parent_offset(tree.data(), node);
    if (bus < 0 || !reg.there() || is_memory(tree, node)) {
        return;
    }
    const int address_cells = fdt_address_cells(tree.data(), bus);
    const int size_cells = fdt_size_cells(tree.data(), bus);
    if (address_cells < 1 || size_cells < 1) {
        return;
    }
    const int entry = address_cells + size_cells;
    for (int at = 0; at + entry <= reg.count(); at += entry) {
        const auto base = to_root(tree, bus, reg.number(at, address_cells));
        const std::uint64_t size = reg.number(at + address_cells, size_cells);
        if (!base || size == 0) {
            return; // the hypervisor looks no further, either
        }
        abi::RegionEntry region{};
        region.base = *base;
        region.size = size;
        region.reg_index = static_cast<std::uint16_t>(at / entry);
        set_path(tree, node, region);
        if (*base < reach && size <= reach - *base) {
            to.push_back(region);
        }
    }
}

} // namespace

wire::StreamHead tree_devices(const Bytes& tree) {
    wire::StreamHead head{};
    for (int node = fdt_next_node(tree.data(), -1, nullptr); node >= 0;
         node = fdt_next_node(tree.data(), node, nullptr)) {
        add_node(tree, node, head.regions);
    }
    head.aliases = tree::aliases(tree);
    return head;
}

} // namespace mmioscope::run
