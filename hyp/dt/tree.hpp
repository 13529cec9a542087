// Reading a flattened device tree (Devicetree Specification 0.4, chapters 2 and 5), on libfdt.
// The tree is the boot loader's word: every size in it is checked before it is used.
#pragma once

#include "abi/ring.hpp"
#include "base/address.hpp"

namespace mmioscope {

/// What is wrong with what the boot loader handed over; `what` is null if nothing is.
struct BootError {
    const char* what{};
    const char* subject{""};
    bool lists_devices{}; ///< the devices that are there would help

    explicit operator bool() const { return what != nullptr; }
};

class Tree {
public:
    /// `blob` must have passed check().
    explicit Tree(const void* blob) : blob_(blob) {}

    /// An error unless `blob` is a whole device tree of at most `room` bytes.
    static BootError check(const void* blob, std::uint64_t room);

    const void* blob() const { return blob_; }
    std::uint32_t size() const;

    /// Depth-first: the node after `node` (start with -1); negative after the last.
    int next(int node) const;
    int parent(int node) const;
    /// The node at a path or alias; negative if there is none.
    int find(const char* path_or_alias) const;
    /// The first child of `parent`, then the next one of the same parent; negative at the end.
    int first_child(int parent) const;
    int next_child(int node) const;

    bool compatible(int node, const char* with) const;
    bool disabled(int node) const;
    bool failed(int node) const; ///< its status says that it is broken
    bool has(int node, const char* property) const;
    bool is_type(int node, const char* device_type) const;
    const char* name(int node) const;
    /// Writes the path, or its end behind "~" where it does not fit.
    void path(int node, char* out, std::size_t room) const;

    /// The property as a zero-terminated string; null if absent or not one.
    const char* text(int node, const char* property) const;
    /// The `index`th string of a stringlist; null behind the last.
    const char* text_at(int node, const char* property, int index) const;
    /// The property as one 32-bit cell; `otherwise` if absent or not one.
    std::uint32_t cell(int node, const char* property, std::uint32_t otherwise) const;
    /// The length of the property in bytes; 0 if it is absent.
    std::size_t length(int node, const char* property) const;
    /// The `index`th 32-bit cell of a property that is long enough for it.
    std::uint32_t cell_at(int node, const char* property, std::size_t index) const;

    /// The properties of `node`, one after the other; negative behind the last.
    int first_property(int node) const;
    int next_property(int property) const;
    /// Its name, and in `text` its value as a zero-terminated string; null if it is not one.
    const char* text_of(int property, const char*& text) const;

    /// The `index`th entry of `reg`, translated through `ranges` up to the root. False if there
    /// is no such entry, or an ancestor does not map it.
    bool reg(int node, unsigned index, Range& out) const;
    /// The same without translation: for nodes whose addresses are the root's, as under /chosen.
    bool untranslated_reg(int node, unsigned index, Range& out) const;

private:
    bool raw_reg(int node, int parent, unsigned index, Range& out) const;
    bool translate(int bus, std::uint64_t& address) const;

    const void* blob_;
};

} // namespace mmioscope
