#include "dt/tree.hpp"

#include "abi/flat_tree.hpp"

#include <cstring>
#include <memory>

namespace mmioscope {

using namespace abi::flat_tree;

namespace {

/// The big-endian word at a multiple of 4, on a little-endian CPU. In freestanding code memcpy()
/// without the prefix would be a call.
std::uint32_t word_at(const std::uint8_t* from) {
    std::uint32_t word;
    __builtin_memcpy(&word, std::assume_aligned<sizeof word>(from), sizeof word);
    return __builtin_bswap32(word);
}

bool equal(const char* a, const char* b) {
    return *a == *b && std::strcmp(a, b) == 0;
}

/// Whether a path means `name` by the `length` characters at `wanted`, which may lack the unit
/// address.
bool is_called(const char* name, const char* wanted, std::size_t length) {
    if (std::strncmp(name, wanted, length) != 0) return false;
    return name[length] == '\0' ||
           (name[length] == '@' && std::memchr(wanted, '@', length) == nullptr);
}

constexpr std::uint8_t unsaid = 0xff; ///< no property has set the number of cells yet

/// Sets the number of cells; 0 if it is not usable. The first property of that name counts.
void note_cells(std::uint8_t& cells, const Property& property) {
    constexpr std::uint32_t most = 4;
    if (cells != unsaid) return;
    const std::uint32_t said = property.size == 4 ? property.cell(0) : 0;
    cells = static_cast<std::uint8_t>(said <= most ? said : 0);
}

/// Deeper than the buses of any real tree; limits the cost of a translation.
constexpr int max_depth = 16;

} // namespace

const char* Property::text() const {
    return Property(*this).take_text();
}

const char* Property::take_text() {
    const void* end = size != 0 ? std::memchr(value, 0, size) : nullptr;
    if (end == nullptr) return nullptr;
    const char* taken = reinterpret_cast<const char*>(value);
    const std::uint8_t* next = static_cast<const std::uint8_t*>(end) + 1;
    size -= static_cast<std::size_t>(next - value);
    value = next;
    return taken;
}

std::uint32_t Property::cell(std::size_t index) const {
    return word_at(value + 4 * index);
}

std::uint64_t Property::number(std::size_t from, std::size_t count) const {
    std::uint64_t number = 0;
    for (std::size_t n = from; n < from + count; ++n) number = number << 32 | cell(n);
    return number;
}

std::uint32_t Tree::word(std::size_t offset) const {
    return word_at(blob_ + offset);
}

const char* Tree::text_at(std::size_t offset) const {
    return reinterpret_cast<const char*>(blob_ + offset);
}

std::uint32_t Tree::size_of(const void* blob) {
    return word_at(static_cast<const std::uint8_t*>(blob) + size_at);
}

void Tree::move(void* to) {
    std::memmove(to, blob_, size());
    blob_ = static_cast<const std::uint8_t*>(to);
}

BootError Tree::read(const void* blob, std::uint64_t room) {
    blob_ = static_cast<const std::uint8_t*>(blob);
    nodes_.clear();
    if (room < 8 || word(0) != magic) return {"no device tree", "wrong magic"};
    if (size() > room) return {"device tree is too large", ""};
    const char* damage = check_header();
    if (damage == nullptr) damage = scan();
    return damage != nullptr ? BootError{"device tree is damaged", damage} : BootError{};
}

bool Tree::sized_structure() const {
    return word(version_at) > 16;
}

/// What is wrong with the header and the places of the blocks; null if nothing is.
const char* Tree::check_header() const {
    const std::size_t total = size();
    if (total < header_size || total > INT32_MAX) return "its size";
    if (word(version_at) < 16 || word(oldest_reader_at) > 17) return "its version";
    const std::size_t header = sized_structure() ? header_size : structure_size;
    const auto lies_inside = [=](std::size_t offset, std::size_t size, std::size_t unit) {
        return offset % unit == 0 && offset >= header && offset <= total && size <= total - offset;
    };
    const std::size_t names = word(names_at), length = word(names_size);
    // The block ends with a zero, so every name in it has an end.
    if (!lies_inside(names, length, 1) || (length != 0 && blob_[names + length - 1] != 0))
        return "its block of names";
    if (!lies_inside(word(structure_at), sized_structure() ? word(structure_size) : 0, 4))
        return "its block of nodes";
    for (std::size_t entry = word(reserved_at); lies_inside(entry, 16, 8); entry += 16)
        if ((word(entry) | word(entry + 4) | word(entry + 8) | word(entry + 12)) == 0)
            return nullptr;
    return "its list of reserved memory";
}

/// Notes the node whose token is just before `at`, a child of `open`; advances both. Returns what
/// is wrong with it; null if nothing is.
const char* Tree::note_node(int& open, std::size_t& at, std::size_t end) {
    if (open < 0 && count() != 0) return "it has two roots";
    const void* zero = at < end ? std::memchr(blob_ + at, 0, end - at) : nullptr;
    if (zero == nullptr) return "a node's name has no end";
    if (open < 0 && blob_[at] != 0) return "its root has a name";
    const std::size_t properties =
        aligned(static_cast<std::size_t>(static_cast<const std::uint8_t*>(zero) - blob_) + 1);
    const Node node{.name = static_cast<std::uint32_t>(at),
                    .properties = static_cast<std::uint32_t>(properties),
                    .parent = static_cast<std::int16_t>(open),
                    .behind = 0,
                    .address_cells = unsaid,
                    .size_cells = unsaid};
    open = count();
    at = properties;
    static_assert(max_nodes == 4096);
    return nodes_.push_back(node) ? nullptr : "it has more than 4096 nodes";
}

/// As note_node(), for a property of `node`.
const char* Tree::note_property(Node& node, std::size_t& at, std::size_t end) const {
    if (at > end || end - at < 8) return "a property has no length";
    const std::size_t length = word(at), name = word(at + 4);
    if (length > end - at - 8) return "a property has no end";
    if (name >= word(names_size)) return "a property has no name";
    const Property property{text_at(names_ + name), blob_ + at + 8, length};
    if (equal(property.name, "#address-cells")) note_cells(node.address_cells, property);
    if (equal(property.name, "#size-cells")) note_cells(node.size_cells, property);
    at = aligned(at + 8 + length);
    return nullptr;
}

void Tree::close(Node& node) const {
    node.behind = static_cast<std::int16_t>(count());
    if (node.address_cells == unsaid) node.address_cells = 2;
    if (node.size_cells == unsaid) node.size_cells = 1;
}

/// Notes all nodes. Returns what is wrong with them; null if nothing is.
const char* Tree::scan() {
    names_ = word(names_at);
    std::size_t at = word(structure_at);
    const std::size_t end = sized_structure() ? at + word(structure_size) : size();
    int open = -1;
    bool may_have_properties = false;
    const auto node = [&]() -> Node& { return nodes_[static_cast<std::size_t>(open)]; };
    while (end >= 4 && at <= end - 4) {
        const std::uint32_t token = word(at);
        at += 4;
        const char* damage = nullptr;
        if (token == property_token) {
            if (!may_have_properties)
                return "a property is outside of a node, or after its children";
            damage = note_property(node(), at, end);
        } else if (token == begin_node) {
            damage = note_node(open, at, end);
            may_have_properties = true;
        } else if (token == end_node) {
            if (open < 0) return "a node ends without a beginning";
            close(node());
            open = node().parent;
            may_have_properties = false;
        } else if (token == end_of_structure) {
            if (open >= 0) return "a node has no end";
            return count() != 0 ? nullptr : "it has no node";
        } else if (token != nothing) {
            return "something in it is neither node nor property";
        }
        if (damage != nullptr) return damage;
    }
    return "its nodes have no end";
}

std::size_t Tree::end_of(int node) const {
    int last = behind(node) - 1;
    std::size_t place = first_property(last);
    for (Property p; next_property(place, p);) {
    }
    for (;; last = parent(last)) { // the last node and its ancestors end here, with a word each
        while (word(place) == nothing) place += 4;
        place += 4;
        if (last == node) return place;
    }
}

int Tree::first_child(int parent) const {
    return parent >= 0 && parent + 1 < behind(parent) ? parent + 1 : -1;
}

int Tree::next_child(int node) const {
    const int next = behind(node);
    return parent(node) >= 0 && next < behind(parent(node)) ? next : -1;
}

int Tree::child(int parent, const char* name, std::size_t length) const {
    for (int node = first_child(parent); node >= 0; node = next_child(node))
        if (is_called(this->name(node), name, length)) return node;
    return -1;
}

/// The node at `path`, relative to `node`.
int Tree::below(int node, const char* path) const {
    for (;;) {
        path += std::strspn(path, "/");
        if (node < 0 || *path == '\0') return node;
        const std::size_t length = std::strcspn(path, "/");
        node = child(node, path, length);
        path += length;
    }
}

int Tree::find(const char* path_or_alias) const {
    if (*path_or_alias == '/') return below(0, path_or_alias);
    const int aliases = child(0, "aliases", 7);
    if (aliases < 0) return -1;
    const std::size_t length = std::strcspn(path_or_alias, "/");
    Property alias;
    for (std::size_t place = first_property(aliases); next_property(place, alias);) {
        if (std::strncmp(alias.name, path_or_alias, length) != 0 || alias.name[length] != '\0')
            continue;
        const char* path = alias.text();
        return path != nullptr && *path == '/' ? below(below(0, path), path_or_alias + length) : -1;
    }
    return -1;
}

void Tree::path(int node, char* out, std::size_t room) const {
    char* at = out + room - 1; // written from the end
    *at = '\0';
    if (node == 0) *--at = '/';
    for (; node > 0; node = parent(node)) {
        const std::size_t length = std::strlen(name(node)),
                          left = static_cast<std::size_t>(at - out);
        if (length + 1 > left) {
            std::memcpy(out, name(node) + length - left, left);
            out[0] = '~';
            return;
        }
        at -= length;
        std::memcpy(at, name(node), length);
        *--at = '/';
    }
    std::memmove(out, at, static_cast<std::size_t>(out + room - at));
}

bool Tree::compatible(int node, std::initializer_list<const char*> with) const {
    Property list = property(node, "compatible");
    while (const char* text = list.take_text())
        for (const char* one : with)
            if (equal(text, one)) return true;
    return false;
}

bool Tree::disabled(int node) const {
    const char* status = text(node, "status");
    return status != nullptr && !equal(status, "okay") && !equal(status, "ok");
}

bool Tree::failed(int node) const {
    const char* status = text(node, "status");
    return status != nullptr && std::strncmp(status, "fail", 4) == 0;
}

bool Tree::is_type(int node, const char* device_type) const {
    const char* type = text(node, "device_type");
    return type != nullptr && equal(type, device_type);
}

bool Tree::next_property(std::size_t& place, Property& out) const {
    while (word(place) == nothing) place += 4;
    if (word(place) != property_token) return false;
    const std::size_t length = word(place + 4);
    out = {text_at(names_ + word(place + 8)), blob_ + place + 12, length};
    place = aligned(place + 12 + length);
    return true;
}

/// Most of a boot's look-ups.
[[gnu::flatten]] Property Tree::property(int node, const char* name) const {
    Property found;
    for (std::size_t place = first_property(node); next_property(place, found);)
        if (equal(found.name, name)) return found;
    return {};
}

std::uint32_t Tree::cell(int node, const char* name, std::uint32_t otherwise) const {
    const Property p = property(node, name);
    return p.size == 4 ? p.cell(0) : otherwise;
}

/// The number of entries of `reg`; 0 if the parent's cells are not usable.
unsigned Tree::entries(int node, const Property& reg) const {
    const int bus = parent(node);
    if (bus < 0 || !reg || address_cells(bus) == 0 || size_cells(bus) == 0) return 0;
    return static_cast<unsigned>(reg.size / 4 / (address_cells(bus) + size_cells(bus)));
}

/// Entry `index` of `reg`, as it is in the tree; `end` is set to the size.
bool Tree::raw_entry(int node, const Property& reg, unsigned index, Range& out) const {
    if (index >= entries(node, reg)) return false;
    const unsigned address = address_cells(parent(node)), size = size_cells(parent(node));
    const std::size_t entry = index * (address + size);
    out.begin = reg.number(entry, address);
    out.end = reg.number(entry + address, size);
    return true;
}

/// Translates `address` from the children's side of `bus` to the parent's.
bool Tree::translate(int bus, std::uint64_t& address) const {
    const Property ranges = property(bus, "ranges");
    if (!ranges) return false;
    if (ranges.size == 0) return true; // both sides have the same addresses
    const unsigned child = address_cells(bus), parent = address_cells(this->parent(bus)),
                   size = size_cells(bus);
    if (child == 0 || parent == 0 || size == 0) return false;
    const std::size_t entry = child + parent + size;
    for (std::size_t n = 0; n + entry <= ranges.size / 4; n += entry) {
        const std::uint64_t begin = ranges.number(n, child);
        if (address < begin || address - begin >= ranges.number(n + child + parent, size)) continue;
        address = address - begin + ranges.number(n + child, parent);
        return true;
    }
    return false;
}

namespace {
/// Turns an address and a size in `out` into a range. False: it is empty or leaves the 40-bit bus.
bool make_range(Range& out) {
    constexpr std::uint64_t bus_end = std::uint64_t{1} << 40;
    const std::uint64_t size = out.end;
    if (size == 0 || out.begin >= bus_end || size > bus_end - out.begin) return false;
    out.end = out.begin + size;
    return true;
}
} // namespace

bool Tree::untranslated_reg(int node, unsigned index, Range& out) const {
    return raw_entry(node, property(node, "reg"), index, out) && make_range(out);
}

bool Tree::reg(int node, unsigned index, Range& out) const {
    return raw_entry(node, property(node, "reg"), index, out) && translate_to_root(node, out);
}

bool Tree::next_reg(RegPlace& place, Range& out) const {
    while (raw_entry(place.node, place.reg, place.index, out)) {
        ++place.index;
        if (translate_to_root(place.node, out)) return true;
    }
    return false;
}

bool Tree::reserved(unsigned index, Range& out) const {
    const std::size_t entry = word(reserved_at) + std::size_t{16} * index;
    const auto number = [this](std::size_t at) {
        return std::uint64_t{word(at)} << 32 | word(at + 4);
    };
    const std::uint64_t begin = number(entry), size = number(entry + 8);
    out = {begin, size > UINT64_MAX - begin ? UINT64_MAX : begin + size};
    return (begin | size) != 0; // zeros end the list
}

/// Takes an address and a size that `node` says in its parent's terms.
bool Tree::translate_to_root(int node, Range& out) const {
    int depth = 0;
    for (int bus = parent(node); bus > 0; bus = parent(bus))
        if (++depth > max_depth || !translate(bus, out.begin)) return false;
    return make_range(out);
}

bool Tree::pci_window(int node, unsigned index, Window& out) const {
    const int bus = parent(node);
    if (bus < 0 || !is_type(node, "pci") || is_type(bus, "pci")) return false;
    constexpr unsigned child = 3; // the first cell says which space it is
    const Property ranges = property(node, "ranges");
    const unsigned parent = address_cells(bus), size = size_cells(node);
    const std::size_t entry = child + parent + size;
    if (!ranges || address_cells(node) != child || parent == 0 || size == 0 ||
        ranges.size / 4 / entry <= index)
        return false;
    const std::uint32_t space = ranges.cell(index * entry);
    out.prefetchable = (space & 1u << 30) != 0;
    out.range = {ranges.number(index * entry + child, parent),
                 ranges.number(index * entry + child + parent, size)};
    const bool configuration = (space >> 24 & 3) == 0;
    if (configuration || !translate_to_root(node, out.range)) out.range = {};
    return true;
}

} // namespace mmioscope
