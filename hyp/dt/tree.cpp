#include "dt/tree.hpp"

#include "abi/flat_tree.hpp"

extern "C" {
#include <libfdt.h>
}

#include <cstring>

namespace mmioscope {

namespace {

/// The number made of `cells` big-endian cells. More than two keep the low 64 bits: PCI and
/// chip-select addresses put their flags in front.
std::uint64_t number(const fdt32_t* from, int cells) {
    std::uint64_t v = 0;
    for (int i = 0; i < cells; ++i) v = (v << 32) | fdt32_ld(from + i);
    return v;
}

/// Buses deeper than any real tree's: a bound for loops over ancestors.
constexpr int max_depth = 16;

} // namespace

BootError Tree::check(const void* blob, std::uint64_t room) {
    if (fdt_magic(blob) != FDT_MAGIC) return {"no device tree", "wrong magic"};
    if (fdt_totalsize(blob) > room) return {"device tree is too large", ""};
    if (!abi::properties_end(blob, fdt_totalsize(blob)))
        return {"device tree is damaged", "a property has no end"};
    if (const int e = fdt_check_full(blob, fdt_totalsize(blob)); e != 0)
        return {"device tree is damaged", fdt_strerror(e)};
    return {};
}

std::uint32_t Tree::size() const {
    return fdt_totalsize(blob_);
}

int Tree::next(int node) const {
    return fdt_next_node(blob_, node, nullptr);
}
int Tree::parent(int node) const {
    return fdt_parent_offset(blob_, node);
}
int Tree::find(const char* path_or_alias) const {
    return fdt_path_offset(blob_, path_or_alias);
}
int Tree::first_child(int parent) const {
    return fdt_first_subnode(blob_, parent);
}
int Tree::next_child(int node) const {
    return fdt_next_subnode(blob_, node);
}

bool Tree::compatible(int node, const char* with) const {
    return fdt_node_check_compatible(blob_, node, with) == 0;
}

bool Tree::disabled(int node) const {
    const char* status = text(node, "status");
    return status != nullptr && std::strcmp(status, "okay") != 0 && std::strcmp(status, "ok") != 0;
}

bool Tree::failed(int node) const {
    const char* status = text(node, "status");
    return status != nullptr && std::strncmp(status, "fail", 4) == 0;
}

bool Tree::has(int node, const char* property) const {
    return fdt_getprop(blob_, node, property, nullptr) != nullptr;
}

bool Tree::is_type(int node, const char* device_type) const {
    const char* type = text(node, "device_type");
    return type != nullptr && std::strcmp(type, device_type) == 0;
}

const char* Tree::name(int node) const {
    const char* name = fdt_get_name(blob_, node, nullptr);
    return name != nullptr ? name : "";
}

void Tree::path(int node, char* out, std::size_t room) const {
    char whole[512];
    if (fdt_get_path(blob_, node, whole, sizeof whole) != 0) std::strcpy(whole, name(node));
    const std::size_t length = std::strlen(whole);
    if (length < room) {
        std::strcpy(out, whole);
    } else {
        out[0] = '~';
        std::strcpy(out + 1, whole + length - (room - 2));
    }
}

const char* Tree::text(int node, const char* property) const {
    return text_at(node, property, 0);
}

const char* Tree::text_at(int node, const char* property, int index) const {
    return fdt_stringlist_get(blob_, node, property, index, nullptr);
}

std::uint32_t Tree::cell(int node, const char* property, std::uint32_t otherwise) const {
    int size = 0;
    const void* p = fdt_getprop(blob_, node, property, &size);
    return p != nullptr && size == 4 ? fdt32_ld(static_cast<const fdt32_t*>(p)) : otherwise;
}

std::size_t Tree::length(int node, const char* property) const {
    int size = 0;
    const void* p = fdt_getprop(blob_, node, property, &size);
    return p != nullptr ? static_cast<std::size_t>(size) : 0;
}

std::uint32_t Tree::cell_at(int node, const char* property, std::size_t index) const {
    return fdt32_ld(static_cast<const fdt32_t*>(fdt_getprop(blob_, node, property, nullptr)) +
                    index);
}

int Tree::first_property(int node) const {
    return fdt_first_property_offset(blob_, node);
}

int Tree::next_property(int property) const {
    return fdt_next_property_offset(blob_, property);
}

const char* Tree::text_of(int property, const char*& text) const {
    const char* name = nullptr;
    int size = 0;
    const auto* value =
        static_cast<const char*>(fdt_getprop_by_offset(blob_, property, &name, &size));
    const bool whole = value != nullptr && size > 0 && value[size - 1] == '\0';
    text = whole ? value : nullptr;
    return name;
}

bool Tree::raw_reg(int node, int parent, unsigned index, Range& out) const {
    const int address_cells = fdt_address_cells(blob_, parent);
    const int size_cells = fdt_size_cells(blob_, parent);
    if (address_cells < 1 || size_cells < 1) return false;
    int bytes = 0;
    const auto* cells = static_cast<const fdt32_t*>(fdt_getprop(blob_, node, "reg", &bytes));
    const unsigned entry = static_cast<unsigned>(address_cells + size_cells);
    if (cells == nullptr || static_cast<unsigned>(bytes) / 4 / entry <= index) return false;
    cells += index * entry;
    out.begin = number(cells, address_cells);
    out.end = number(cells + address_cells, size_cells); // the size, until translated
    return true;
}

/// Takes `address` on the far side of `bus` to the side of its parent.
bool Tree::translate(int bus, std::uint64_t& address) const {
    int bytes = 0;
    const auto* cells = static_cast<const fdt32_t*>(fdt_getprop(blob_, bus, "ranges", &bytes));
    if (cells == nullptr) return false;
    if (bytes == 0) return true; // an empty `ranges`: both sides are the same
    const int child_cells = fdt_address_cells(blob_, bus);
    const int parent_cells = fdt_address_cells(blob_, parent(bus));
    const int size_cells = fdt_size_cells(blob_, bus);
    if (child_cells < 1 || parent_cells < 1 || size_cells < 1) return false;
    const int entry = child_cells + parent_cells + size_cells;
    for (int left = bytes / 4; left >= entry; left -= entry, cells += entry) {
        const std::uint64_t child = number(cells, child_cells);
        const std::uint64_t size = number(cells + child_cells + parent_cells, size_cells);
        if (address < child || address - child >= size) continue;
        address = address - child + number(cells + child_cells, parent_cells);
        return true;
    }
    return false;
}

namespace {
/// `out` holds an address and a size; makes it a range. False if it leaves the 40-bit bus.
bool make_range(Range& out) {
    constexpr std::uint64_t bus_end = std::uint64_t{1} << 40;
    const std::uint64_t size = out.end;
    if (size == 0 || out.begin >= bus_end || size > bus_end - out.begin) return false;
    out.end = out.begin + size;
    return true;
}
} // namespace

bool Tree::untranslated_reg(int node, unsigned index, Range& out) const {
    const int bus = parent(node);
    return bus >= 0 && raw_reg(node, bus, index, out) && make_range(out);
}

bool Tree::reg(int node, unsigned index, Range& out) const {
    int bus = parent(node);
    if (bus < 0 || !raw_reg(node, bus, index, out)) return false;
    for (int depth = 0; bus > 0; bus = parent(bus))
        if (++depth > max_depth || !translate(bus, out.begin)) return false;
    return make_range(out);
}

} // namespace mmioscope
