// The nodes of a flattened device tree, with their addresses as the CPU sees them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mmioscope::tree {

/// A property as big-endian cells of 32 bits.
class Cells {
public:
    Cells() = default;
    explicit Cells(std::span<const std::byte> bytes) : bytes_(bytes), there_(true) {}

    bool there() const { return there_; }
    std::size_t count() const { return bytes_.size() / 4; }
    std::uint32_t operator[](std::size_t at) const;

    /// The number in `length` cells from `at` on; the lowest 64 bits if there are more than two.
    std::uint64_t number(std::size_t at, std::size_t length) const;

private:
    std::span<const std::byte> bytes_;
    bool there_ = false;
};

/// One entry of `reg`.
struct AddressRange {
    std::uint64_t base;
    std::uint64_t size;
};

class TreeNodes {
public:
    static constexpr std::size_t none = ~std::size_t{0};

    /// `tree` outlives this. There are no nodes if it is invalid.
    explicit TreeNodes(std::span<const std::byte> tree);

    std::size_t size() const { return nodes_.size(); }                         ///< the root is 0
    std::size_t parent(std::size_t node) const { return nodes_[node].parent; } ///< none: root
    std::string path(std::size_t node) const;
    std::string_view name(std::size_t node) const { return nodes_[node].name; }

    /// `path` may be the end of a path after "~", as in a trace.
    std::size_t find(std::string_view path) const;
    std::size_t find_phandle(std::uint32_t phandle) const;

    bool has(std::size_t node, const char* property) const;
    Cells cells(std::size_t node, const char* property) const;
    std::vector<std::string> strings(std::size_t node, const char* property) const;

    /// The value of a property with one cell, or `otherwise`.
    std::uint32_t number(std::size_t node, const char* property, std::uint32_t otherwise) const;

    bool is_memory(std::size_t node) const; ///< by its `device_type`
    /// Whether `ranges` lead from the CPU to `node`.
    bool is_reachable(std::size_t node) const;

    /// The entries of `reg` as CPU addresses; empty if no `ranges` lead there.
    std::vector<AddressRange> reg(std::size_t node) const;

private:
    struct Property {
        std::string_view name;
        std::span<const std::byte> value;
    };
    struct Node {
        std::size_t parent;
        std::string_view name;
        std::size_t properties; ///< the first one; the next node's follow the last
    };

    std::size_t find_whole(std::string_view path) const;
    bool has_end(std::size_t node, std::string_view end) const;
    void add_node(int offset, std::size_t parent);
    void add_property(int offset);
    std::uint32_t phandle(std::size_t node) const;
    std::optional<std::span<const std::byte>> property(std::size_t node,
                                                       std::string_view name) const;
    std::optional<std::uint64_t> to_parent(std::size_t bus, std::uint64_t address) const;

    std::span<const std::byte> tree_;
    std::vector<Node> nodes_;
    std::vector<Property> properties_;
    std::map<std::pair<std::size_t, std::string_view>, std::size_t> children_; ///< by parent, name
    std::map<std::uint32_t, std::size_t> phandles_;
};

} // namespace mmioscope::tree
