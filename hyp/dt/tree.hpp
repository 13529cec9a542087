// Reading a flattened device tree (Devicetree Specification 0.4, chapters 2 and 5). The tree is the
// boot loader's word: one pass looks at all of it, and notes where each node is. What is asked
// later goes by that.
#pragma once

#include "base/address.hpp"
#include "base/fixed_vector.hpp"

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace mmioscope {

/// What is wrong with what the boot loader handed over; `what` is null if nothing is.
struct BootError {
    const char* what{};
    const char* subject{""};
    bool lists_devices{}; ///< the devices that are there would help

    explicit operator bool() const { return what != nullptr; }
};

/// A property, as it stands in the tree.
struct Property {
    const char* name{};
    const std::uint8_t* value{}; ///< at a multiple of 4; null: there is no such property
    std::size_t size{};          ///< bytes

    explicit operator bool() const { return value != nullptr; }
    /// The value as one zero-terminated string, or the first of several; null if it is none.
    const char* text() const;
    /// The `index`th cell, which is there.
    std::uint32_t cell(std::size_t index) const;
    /// The cells of `from` on, `count` of them, as one number: all of them are there. More than two
    /// keep the low 64 bits: PCI and chip-select addresses put their flags in front.
    std::uint64_t number(std::size_t from, std::size_t count) const;
};

/// A node is known by its number: 0 is the root, children come behind their parents, in the tree's
/// order. Where a node is looked for, -1 is none.
class Tree {
public:
    static constexpr std::size_t max_nodes = 4096; ///< Linux' largest for ARMv7 have 2,500

    /// Takes what lies at `blob` (a multiple of 4), of which `room` bytes may be read. An error
    /// unless it is a whole device tree of format 16 or 17, and no larger.
    BootError read(const void* blob, std::uint64_t room);

    /// Bytes of the tree that begins at `blob`.
    static std::uint32_t size_of(const void* blob);
    /// Moves it to `to` (a multiple of 4), out of the way; both may overlap.
    void move(void* to);

    const std::uint8_t* blob() const { return blob_; }
    std::uint32_t size() const { return size_of(blob_); }

    /// How many nodes there are: 0 to count() - 1.
    int count() const { return static_cast<int>(nodes_.size()); }
    int parent(int node) const { return at(node).parent; } ///< of the root: -1
    /// The first node behind `node` and all below it, or count().
    int behind(int node) const { return at(node).behind; }
    /// Where it begins and ends, in bytes from the tree's first.
    std::size_t begin_of(int node) const { return at(node).name - 4; }
    std::size_t end_of(int node) const;
    /// The first child of `parent`, then the next one of the same parent; negative at the end.
    int first_child(int parent) const;
    int next_child(int node) const;
    /// The node at a path or alias; negative if there is none. As in libfdt a name may be without
    /// its unit address.
    int find(const char* path_or_alias) const;

    const char* name(int node) const { return text_at(at(node).name); }
    /// Writes the path, or its end behind "~" where it does not fit in `room` bytes (2 or more).
    void path(int node, char* out, std::size_t room) const;

    /// With one of them at least.
    bool compatible(int node, std::initializer_list<const char*> with) const;
    bool disabled(int node) const;
    bool failed(int node) const; ///< its status says that it is broken
    bool is_type(int node, const char* device_type) const;

    /// The properties of `node` in their order: `place` begins with first_property(), each call
    /// moves it on. False behind the last.
    std::size_t first_property(int node) const { return at(node).properties; }
    bool next_property(std::size_t& place, Property& out) const;
    Property property(int node, const char* name) const;

    bool has(int node, const char* name) const { return bool(property(node, name)); }
    /// The property as a zero-terminated string; null if absent or not one.
    const char* text(int node, const char* name) const { return property(node, name).text(); }
    /// The `index`th string of a stringlist; null behind the last.
    const char* text_at(int node, const char* name, int index) const;
    /// The property as one 32-bit cell; `otherwise` if absent or not one.
    std::uint32_t cell(int node, const char* name, std::uint32_t otherwise) const;
    /// What `node` has its children's `reg` made of; 0 if that cannot be used.
    unsigned address_cells(int node) const { return at(node).address_cells; }
    unsigned size_cells(int node) const { return at(node).size_cells; }

    /// The `index`th entry of `reg`, translated through `ranges` up to the root. False if there
    /// is no such entry, or an ancestor does not map it.
    bool reg(int node, unsigned index, Range& out) const;
    /// The same without translation: for nodes whose addresses are the root's, as under /chosen.
    bool untranslated_reg(int node, unsigned index, Range& out) const;

private:
    /// Offsets from the blob's first byte, and other nodes' numbers.
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

    bool sized_structure() const; ///< the header says how long it is
    const char* check_header() const;
    const char* scan();
    const char* note_node(int& open, std::size_t& at, std::size_t end);
    const char* note_property(Node& node, std::size_t& at, std::size_t end) const;
    void close(Node& node) const;
    int child(int parent, const char* name, std::size_t length) const;
    int below(int node, const char* path) const;
    bool raw_reg(int node, unsigned index, Range& out) const;
    bool translate(int bus, std::uint64_t& address) const;

    const std::uint8_t* blob_{};
    std::uint32_t names_{}; ///< where the block of names begins
    FixedVector<Node, max_nodes> nodes_;
};

} // namespace mmioscope
