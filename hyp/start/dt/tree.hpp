// Reads a flattened device tree (Devicetree Specification 0.4, chapters 2 and 5). The tree is input
// from the boot loader: one pass checks all of it, and notes where each node is. Later queries use
// those notes.
#pragma once

#include "base/address.hpp"
#include "base/boot_error.hpp"
#include "base/fixed_vector.hpp"

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace mmioscope {

/// A property of the tree.
struct Property {
    const char* name{};
    const std::uint8_t* value{}; ///< at a multiple of 4; null: no such property
    std::size_t size{};          ///< bytes

    explicit operator bool() const { return value != nullptr; }
    /// The value as a zero-terminated string, or the first one of a list; null if it is not a
    /// string.
    const char* text() const;
    /// The next string of a list, which loses it; null: no more.
    const char* take_text();
    /// Cell `index`, which must exist.
    std::uint32_t cell(std::size_t index) const;
    /// `count` cells, beginning with cell `from`, as one number; all of them must exist. Of more
    /// than two only the low 64 bits count: PCI and chip-select addresses begin with flags.
    std::uint64_t number(std::size_t from, std::size_t count) const;
};

/// A node is known by its number. 0 is the root; children follow their parents, in the tree's
/// order. -1 means that no node was found.
class Tree {
public:
    static constexpr std::size_t max_nodes = 4096; ///< the largest of Linux for ARMv7 have 2,500

    /// Reads the tree at `blob` (a multiple of 4), of which `room` bytes may be read. An error
    /// unless it is a complete device tree of version 16 or 17, and no larger than `room`.
    BootError read(const void* blob, std::uint64_t room);

    /// The size in bytes of the tree at `blob`.
    static std::uint32_t size_of(const void* blob);
    /// Moves the tree to `to` (a multiple of 4); both places may overlap.
    void move(void* to);

    const std::uint8_t* blob() const { return blob_; }
    std::uint32_t size() const { return size_of(blob_); }

    /// Number of nodes.
    int count() const { return static_cast<int>(nodes_.size()); }
    int parent(int node) const { return at(node).parent; } ///< of the root: -1
    /// The first node after `node` and everything below it, or count().
    int behind(int node) const { return at(node).behind; }
    /// Where the node begins and ends, in bytes from the tree's beginning.
    std::size_t begin_of(int node) const { return at(node).name - 4; }
    std::size_t end_of(int node) const;
    /// The first child of `parent`, and the next child of the same parent; negative: no more.
    int first_child(int parent) const;
    int next_child(int node) const;
    /// The node at a path or alias; negative: none. As in libfdt, a name may lack its unit address.
    int find(const char* path_or_alias) const;

    const char* name(int node) const { return text_at(at(node).name); }
    /// Writes the path to `out`. If it does not fit in `room` bytes (at least 2), writes "~" and
    /// its end.
    void path(int node, char* out, std::size_t room) const;

    /// Whether `node` is compatible with at least one of `with`.
    bool compatible(int node, std::initializer_list<const char*> with) const;
    bool disabled(int node) const;
    bool failed(int node) const; ///< its status says that it is broken
    bool is_type(int node, const char* device_type) const;

    /// The properties of `node` in order: `place` begins as first_property(), and each call
    /// advances it. False: no more.
    std::size_t first_property(int node) const { return at(node).properties; }
    bool next_property(std::size_t& place, Property& out) const;
    Property property(int node, const char* name) const;

    bool has(int node, const char* name) const { return bool(property(node, name)); }
    /// The property as a zero-terminated string; null if absent or not a string.
    const char* text(int node, const char* name) const { return property(node, name).text(); }
    /// The property as one 32-bit cell; `otherwise` if absent or of another size.
    std::uint32_t cell(int node, const char* name, std::uint32_t otherwise) const;
    /// The number of cells in `reg` of the node's children; 0 if it is not usable.
    unsigned address_cells(int node) const { return at(node).address_cells; }
    unsigned size_cells(int node) const { return at(node).size_cells; }

    /// Entry `index` of `reg`, translated through `ranges` up to the root. False: no such entry, it
    /// is empty, or an ancestor does not map it.
    bool reg(int node, unsigned index, Range& out) const;
    /// The number of entries of `reg`, usable or not.
    unsigned reg_entries(int node) const { return entries(node, property(node, "reg")); }
    /// The entries of `reg` of which reg() is true: `place` begins as first_reg(), and each call of
    /// next_reg() advances it past one. False: no more.
    struct RegPlace {
        Property reg;
        int node;
        unsigned index; ///< of the next entry
    };
    RegPlace first_reg(int node) const { return {property(node, "reg"), node, 0}; }
    bool next_reg(RegPlace& place, Range& out) const;
    /// Entry `index` of the memory that firmware keeps (/memreserve/). False: no more.
    bool reserved(unsigned index, Range& out) const;
    /// Where a PCI host bridge shows the CPU a part of its bus.
    struct Window {
        Range range;       ///< empty: configuration space, or an ancestor does not map it
        bool prefetchable; ///< reads have no side effects, as of memory
    };
    /// Entry `index` of a PCI host bridge's `ranges` (IEEE 1275, PCI bus binding 2.2.1.1 and
    /// 3.1.1). False: no such entry, or `node` is no host bridge.
    bool pci_window(int node, unsigned index, Window& out) const;
    /// As reg(), without translation: for nodes whose addresses are the root's, as under /chosen.
    bool untranslated_reg(int node, unsigned index, Range& out) const;

private:
    /// Offsets from the first byte of the tree, and numbers of other nodes.
    struct Node {
        std::uint32_t name;
        std::uint32_t properties;
        std::int16_t parent;
        std::int16_t behind;
        std::uint8_t address_cells;
        std::uint8_t size_cells;
    };

    const Node& at(int node) const { return nodes_[static_cast<std::size_t>(node)]; }
    std::uint32_t word(std::size_t offset) const;
    const char* text_at(std::size_t offset) const;

    bool sized_structure() const; ///< whether the header has the size of the structure block
    const char* check_header() const;
    const char* scan();
    const char* note_node(int& open, std::size_t& at, std::size_t end);
    const char* note_property(Node& node, std::size_t& at, std::size_t end) const;
    void close(Node& node) const;
    int child(int parent, const char* name, std::size_t length) const;
    int below(int node, const char* path) const;
    unsigned entries(int node, const Property& reg) const;
    bool raw_entry(int node, const Property& reg, unsigned index, Range& out) const;
    bool translate_to_root(int node, Range& out) const;
    bool translate(int bus, std::uint64_t& address) const;

    const std::uint8_t* blob_{};
    std::uint32_t names_{}; ///< offset of the block of names
    FixedVector<Node, max_nodes> nodes_;
};

} // namespace mmioscope
