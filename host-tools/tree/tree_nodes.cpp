#include "tree/tree_nodes.hpp"

#include "tree/device_tree.hpp"

#include <libfdt.h>

#include <algorithm>
#include <cstring>

namespace mmioscope::tree {

namespace {

// Limits. No board's tree has more, and one of 16 MiB that does would take hours: each device is
// looked for among all nodes, and each property among all of its node.
constexpr int deepest = 64; ///< levels
constexpr std::size_t most_nodes = 8192;
constexpr std::size_t most_properties = 1024; ///< of one node
constexpr std::size_t most_strings = 64;      ///< of one property
constexpr std::size_t most_text = 2048;       ///< bytes of them
constexpr std::size_t most_entries = 1024;    ///< of `reg` or `ranges`

bool cells_make_sense(std::uint32_t address, std::uint32_t size) {
    return address >= 1 && address <= 4 && size >= 1 && size <= 4;
}

} // namespace

std::uint32_t Cells::operator[](std::size_t at) const {
    fdt32_t value = 0;
    std::memcpy(&value, bytes_.data() + at * 4, sizeof value);
    return fdt32_to_cpu(value);
}

std::uint64_t Cells::number(std::size_t at, std::size_t length) const {
    std::uint64_t value = 0;
    for (std::size_t i = at; i < at + length; ++i) {
        value = value << 32 | (*this)[i];
    }
    return value;
}

// In one pass, because libfdt goes through all tags for each property.
TreeNodes::TreeNodes(std::span<const std::byte> tree) : tree_(tree) {
    if (!tree_is_sound(tree)) {
        return;
    }
    std::size_t open[deepest];
    int depth = -1, next = 0;
    bool in_front = false; // the last node's first child: libfdt finds no property after it
    std::uint32_t tag = FDT_NOP;
    for (int at = 0; tag != FDT_END && next >= 0; at = next) {
        tag = fdt_next_tag(tree.data(), at, &next);
        if (tag == FDT_BEGIN_NODE) {
            in_front = ++depth < deepest && nodes_.size() < most_nodes;
            if (in_front) {
                open[depth] = nodes_.size();
                add_node(at, depth == 0 ? none : open[depth - 1]);
            }
        } else if (tag == FDT_END_NODE) {
            --depth;
            in_front = false;
        } else if (tag == FDT_PROP && in_front) {
            add_property(at);
        }
    }
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
        if (const std::uint32_t its = phandle(node); its != 0) {
            phandles_.emplace(its, node);
        }
    }
}

void TreeNodes::add_node(int offset, std::size_t parent) {
    int length = 0;
    const char* const name = fdt_get_name(tree_.data(), offset, &length);
    nodes_.push_back(
        {parent, name == nullptr ? "" : std::string_view(name, static_cast<std::size_t>(length)),
         properties_.size()});
    children_.emplace(std::pair(parent, nodes_.back().name), nodes_.size() - 1);
}

void TreeNodes::add_property(int offset) {
    if (properties_.size() - nodes_.back().properties >= most_properties) {
        return;
    }
    int bytes = 0;
    const char* name = nullptr;
    const void* const value = fdt_getprop_by_offset(tree_.data(), offset, &name, &bytes);
    if (value != nullptr && name != nullptr) {
        properties_.push_back(
            {name, {static_cast<const std::byte*>(value), static_cast<std::size_t>(bytes)}});
    }
}

// Like fdt_get_phandle(). 0: none.
std::uint32_t TreeNodes::phandle(std::size_t node) const {
    for (const char* const name : {"phandle", "linux,phandle"}) {
        const auto value = property(node, name);
        if (value && value->size() == 4) {
            return Cells(*value)[0];
        }
    }
    return 0;
}

std::string TreeNodes::path(std::size_t node) const {
    std::string path;
    for (; node != none && nodes_[node].parent != none; node = nodes_[node].parent) {
        path = "/" + std::string(nodes_[node].name) + path;
    }
    return path.empty() ? "/" : path;
}

std::size_t TreeNodes::find(std::string_view path) const {
    if (!path.starts_with('~')) {
        return find_whole(path);
    }
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
        if (has_end(node, path.substr(1))) {
            return node;
        }
    }
    return none;
}

// From the root down, name by name.
std::size_t TreeNodes::find_whole(std::string_view path) const {
    if (nodes_.empty() || !path.starts_with('/')) {
        return none;
    }
    std::size_t node = 0;
    for (std::string_view rest = path; rest.size() > 1;) {
        rest.remove_prefix(1);
        const std::string_view name = rest.substr(0, rest.find('/'));
        const auto child = children_.find(std::pair(node, name));
        if (child == children_.end() || name.size() + 1 == rest.size()) { // nothing after "/"
            return none;
        }
        node = child->second;
        rest.remove_prefix(name.size());
    }
    return node;
}

// From the node up, as far as `end` goes.
bool TreeNodes::has_end(std::size_t node, std::string_view end) const {
    for (; nodes_[node].parent != none; node = nodes_[node].parent) {
        const std::string_view name = nodes_[node].name;
        if (end.size() <= name.size()) {
            return name.ends_with(end);
        }
        if (!end.ends_with(name) || end[end.size() - name.size() - 1] != '/') {
            return false;
        }
        end.remove_suffix(name.size() + 1);
        if (end.empty()) {
            return true;
        }
    }
    return end.empty();
}

std::size_t TreeNodes::find_phandle(std::uint32_t phandle) const {
    const auto found = phandles_.find(phandle);
    return found == phandles_.end() ? none : found->second;
}

std::optional<std::span<const std::byte>> TreeNodes::property(std::size_t node,
                                                              std::string_view name) const {
    const std::size_t end =
        node + 1 < nodes_.size() ? nodes_[node + 1].properties : properties_.size();
    for (std::size_t i = nodes_[node].properties; i < end; ++i) {
        if (properties_[i].name == name) {
            return properties_[i].value;
        }
    }
    return std::nullopt;
}

bool TreeNodes::has(std::size_t node, const char* name) const {
    return property(node, name).has_value();
}

Cells TreeNodes::cells(std::size_t node, const char* name) const {
    const auto value = property(node, name);
    return value ? Cells(*value) : Cells();
}

std::vector<std::string> TreeNodes::strings(std::size_t node, const char* name) const {
    std::vector<std::string> found;
    const auto value = property(node, name).value_or(std::span<const std::byte>());
    std::string_view rest(reinterpret_cast<const char*>(value.data()),
                          std::min(value.size(), most_text));
    while (!rest.empty() && found.size() < most_strings) {
        const std::string_view text = rest.substr(0, rest.find('\0'));
        found.emplace_back(text);
        rest.remove_prefix(std::min(rest.size(), text.size() + 1));
    }
    return found;
}

std::uint32_t TreeNodes::number(std::size_t node, const char* name, std::uint32_t otherwise) const {
    const Cells value = cells(node, name);
    return value.count() == 0 ? otherwise : value[0];
}

bool TreeNodes::is_memory(std::size_t node) const {
    const std::vector<std::string> type = strings(node, "device_type");
    return !type.empty() && type.front() == "memory";
}

bool TreeNodes::is_reachable(std::size_t node) const {
    std::size_t bus = parent(node);
    while (bus != none && parent(bus) != none && has(bus, "ranges")) {
        bus = parent(bus);
    }
    return bus != none && parent(bus) == none;
}

std::vector<AddressRange> TreeNodes::reg(std::size_t node) const {
    std::vector<AddressRange> found;
    const std::size_t bus = parent(node);
    if (bus == none) {
        return found;
    }
    const Cells reg = cells(node, "reg");
    const std::uint32_t address_cells = number(bus, "#address-cells", 2);
    const std::uint32_t size_cells = number(bus, "#size-cells", 1);
    if (!cells_make_sense(address_cells, size_cells)) {
        return found;
    }
    const std::size_t entry = address_cells + size_cells;
    for (std::size_t at = 0; at + entry <= reg.count() && found.size() < most_entries;
         at += entry) {
        std::optional<std::uint64_t> base = reg.number(at, address_cells);
        for (std::size_t up = bus; base && parent(up) != none; up = parent(up)) {
            base = to_parent(up, *base);
        }
        if (!base) {
            break;
        }
        found.push_back({*base, reg.number(at + address_cells, size_cells)});
    }
    return found;
}

// Translates `address` from the child side of `bus` to its parent's.
std::optional<std::uint64_t> TreeNodes::to_parent(std::size_t bus, std::uint64_t address) const {
    const Cells ranges = cells(bus, "ranges");
    if (!ranges.there() || ranges.count() == 0) {
        return ranges.there() ? std::optional(address) : std::nullopt;
    }
    const std::uint32_t child_cells = number(bus, "#address-cells", 2);
    const std::uint32_t size_cells = number(bus, "#size-cells", 1);
    const std::uint32_t parent_cells = number(parent(bus), "#address-cells", 2);
    if (!cells_make_sense(child_cells, size_cells) || !cells_make_sense(parent_cells, 1)) {
        return std::nullopt;
    }
    const std::size_t entry = child_cells + parent_cells + size_cells;
    const std::size_t count = std::min(ranges.count() / entry, most_entries);
    for (std::size_t at = 0; at < count * entry; at += entry) {
        const std::uint64_t child = ranges.number(at, child_cells);
        const std::uint64_t size = ranges.number(at + child_cells + parent_cells, size_cells);
        if (address >= child && address - child < size) {
            return address - child + ranges.number(at + child_cells, parent_cells);
        }
    }
    return std::nullopt;
}

} // namespace mmioscope::tree
