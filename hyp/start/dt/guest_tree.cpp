#include "dt/guest_tree.hpp"

#include "abi/control.hpp"
#include "abi/flat_tree.hpp"
#include "abi/chosen.hpp"
#include "abi/ring.hpp"

#include <algorithm>
#include <cstring>
#include <initializer_list>

namespace mmioscope {

namespace flat = abi::flat_tree;

namespace {

/// The value of a new property.
class Value {
public:
    void add(std::uint64_t number, unsigned cells) {
        for (; cells > 0; --cells) {
            const std::uint64_t cell = cells > 2 ? 0 : number >> (32 * (cells - 1));
            const std::uint32_t word = __builtin_bswap32(static_cast<std::uint32_t>(cell));
            add(&word, sizeof word);
        }
    }
    /// Adds `range` as an entry of `reg` in a child of the root.
    void add(const Range& range, const Tree& tree) {
        add(range.begin, tree.address_cells(0));
        add(range.size(), tree.size_cells(0));
    }
    void add(const char* text) { add(text, std::strlen(text) + 1); }

    const std::uint8_t* bytes() const { return bytes_; }
    std::size_t size() const { return size_; }

private:
    void add(const void* bytes, std::size_t size) {
        if (size > sizeof bytes_ - size_) return; // everything in a MemoryMap fits
        std::memcpy(bytes_ + size_, bytes, size);
        size_ += size;
    }

    static constexpr std::size_t longest_entry = (4 + 4) * 4; // an address and a size
    std::uint8_t bytes_[MemoryMap::capacity() * longest_entry];
    std::size_t size_{};
};

/// Names of properties in the guest's tree that the board's tree may not have.
constexpr const char* new_names[] = {
    "reg",        "status",  "linux,initrd-start", "linux,initrd-end", "reg-names",
    "compatible", "bootargs"};

/// Linux: leave clocks on that the boot loader has turned on, although no driver uses them.
constexpr const char* keep_unused_clocks = "clk_ignore_unused";

/// Writes the guest's tree: header, reserved memory, nodes, names. Copies the nodes from the
/// board's tree in long pieces; the new names follow the board's.
class Writer {
public:
    Writer(const Tree& from, void* out, std::size_t room)
        : from_(from), out_(static_cast<std::uint8_t*>(out)), room_(room) {
        size_ = flat::header_size;
        unsigned reserved = 0;
        for (Range range; from_.reserved(reserved, range);) ++reserved;
        add(from_.blob() + word_of(flat::reserved_at), 16 * (reserved + 1)); // zeros end them
        structure_ = size_;
        kept_ = word_of(flat::structure_at);
    }

    /// Copies the board's tree up to `place`.
    void keep_until(std::size_t place) {
        add(from_.blob() + kept_, place - kept_);
        kept_ = place;
    }
    void leave_out(std::size_t begin, std::size_t end) {
        keep_until(begin);
        kept_ = end;
    }

    void begin_node(const char* name) {
        add_word(flat::begin_node);
        add(name, std::strlen(name) + 1);
    }
    void add_property(const char* new_name, const Value& value) {
        add_property_head(new_name, value.size());
        add(value.bytes(), value.size());
    }
    /// The words of `line`, and one more.
    void add_command_line(const char* line, const char* word) {
        const std::size_t size = std::strlen(line);
        add_property_head("bootargs", size + 1 + std::strlen(word) + 1);
        add_unpadded(line, size);
        add_unpadded(" ", 1);
        add(word, std::strlen(word) + 1);
    }
    void end_node() { add_word(flat::end_node); }

    /// False: there was too little room.
    bool finish() {
        keep_until(from_.end_of(0));
        add_word(flat::end_of_structure);
        const std::size_t names = size_;
        add_unpadded(from_.blob() + word_of(flat::names_at), word_of(flat::names_size));
        for (const char* name : new_names) add_unpadded(name, std::strlen(name) + 1);
        if (!fits_) return false;
        const std::size_t header[] = {flat::magic,
                                      size_,
                                      structure_,
                                      names,
                                      flat::header_size,
                                      17,
                                      16,
                                      word_of(flat::boot_cpu_at),
                                      size_ - names,
                                      names - structure_};
        static_assert(sizeof header / sizeof *header == flat::header_size / 4);
        size_ = 0;
        for (const std::size_t word : header) add_word(word);
        return true;
    }

private:
    std::uint32_t word_of(std::size_t offset) const { return flat::word(from_.blob(), offset); }

    void add_property_head(const char* new_name, std::size_t size) {
        std::size_t name = word_of(flat::names_size);
        for (const char* other : new_names) {
            if (std::strcmp(other, new_name) == 0) break;
            name += std::strlen(other) + 1;
        }
        add_word(flat::property_token);
        add_word(size);
        add_word(name);
    }
    void add_unpadded(const void* bytes, std::size_t size) {
        fits_ = fits_ && size_ <= room_ && size <= room_ - size_;
        if (fits_) std::memcpy(out_ + size_, bytes, size);
        size_ += size;
    }
    void add(const void* bytes, std::size_t size) {
        constexpr char zeros[3] = {};
        add_unpadded(bytes, size);
        add_unpadded(zeros, flat::aligned(size_) - size_);
    }
    void add_word(std::size_t word) {
        const std::uint32_t big_endian = __builtin_bswap32(static_cast<std::uint32_t>(word));
        add_unpadded(&big_endian, sizeof big_endian);
    }

    const Tree& from_;
    std::uint8_t* out_;
    std::size_t room_;
    std::size_t size_;
    std::size_t structure_; ///< where the nodes begin
    std::size_t kept_;      ///< how far the board's tree has been copied or skipped
    bool fits_{true};
};

struct NewProperty {
    const char* name;
    const Value& value;
};

bool is_one_of(const Property& property, const NewProperty* begin, const NewProperty* end) {
    for (; begin != end; ++begin)
        if (std::strcmp(property.name, begin->name) == 0) return true;
    return false;
}

/// Copies up to the end of the properties of `node`. `properties` replace those of the same name,
/// an empty one by nothing; the hypervisor's own are left out.
void change(Writer& writer, const Tree& tree, int node,
            std::initializer_list<NewProperty> properties) {
    constexpr char own[] = "mmioscope,";
    Property property;
    std::size_t place = tree.first_property(node);
    for (std::size_t begin = place; tree.next_property(place, property); begin = place)
        if (std::strncmp(property.name, own, sizeof own - 1) == 0 ||
            is_one_of(property, properties.begin(), properties.end()))
            writer.leave_out(begin, place);
    writer.keep_until(place);
    for (const NewProperty& p : properties)
        if (p.value.size() != 0) writer.add_property(p.name, p.value);
}

void change_chosen(Writer& writer, const Tree& tree, int node, const Range& ramdisk,
                   bool keeps_clocks) {
    Value begin, end, nothing;
    begin.add(ramdisk.begin, 2);
    end.add(ramdisk.end, 2);
    const char* line = tree.text(node, "bootargs");
    const char* replaced = keeps_clocks ? "bootargs" : "";
    if (ramdisk.empty()) change(writer, tree, node, {{replaced, nothing}});
    else
        change(writer, tree, node,
               {{"linux,initrd-start", begin}, {"linux,initrd-end", end}, {replaced, nothing}});
    if (keeps_clocks) writer.add_command_line(line != nullptr ? line : "", keep_unused_clocks);
}

bool is_module(const Tree& tree, int node) {
    return tree.compatible(node, {abi::chosen::kernel, abi::chosen::ramdisk});
}

/// Adds the node /mmioscope, where the properties of the root end.
void announce(Writer& writer, const Tree& tree, const ControlRanges& control) {
    Value reg, names, compatible;
    if (!control.page.empty()) {
        reg.add(control.page, tree);
        names.add("control");
        compatible.add(abi::control::compatible);
    }
    reg.add(control.area, tree);
    names.add("trace");
    if (control.readable) compatible.add(abi::readable_compatible);

    change(writer, tree, 0, {});
    writer.begin_node("mmioscope");
    writer.add_property("reg-names", names);
    writer.add_property("reg", reg);
    writer.add_property("compatible", compatible);
    writer.end_node();
}

} // namespace

// A controller with several clocks needs a word for which one; looking for its node would take
// long.
bool loses_clock(const Tree& tree, std::span<const int> disabled) {
    for (const int uart : disabled) {
        Property names = tree.property(uart, "clock-names");
        unsigned clocks = 0;
        while (names.take_text() != nullptr) ++clocks;
        if (tree.property(uart, "clocks").size / 4 > std::max(clocks, 1u)) return true;
    }
    return false;
}

BootError make_guest_tree(const Tree& tree, const MemoryMap& memory, const BootModules& modules,
                          std::span<const int> disabled, void* out, std::size_t room,
                          const ControlRanges& control) {
    Value status, reg;
    status.add("disabled");
    for (const Range& range : memory) reg.add(range, tree);

    Writer writer(tree, out, room);
    if (!control.page.empty() || control.readable) {
        if (tree.find("/mmioscope") >= 0) return {"the device tree has a node /mmioscope", ""};
        announce(writer, tree, control);
    }
    const int chosen = tree.find("/chosen");
    const bool keeps_clocks = loses_clock(tree, disabled);
    bool has_memory = false;
    for (int node = 1; node < tree.count(); ++node) {
        const bool is_memory = tree.is_type(node, "memory");
        // That of a disabled node is left out, whatever the guest makes of `status`.
        if ((is_memory && (has_memory || tree.disabled(node))) ||
            (tree.parent(node) == chosen && is_module(tree, node))) {
            writer.leave_out(tree.begin_of(node), tree.end_of(node));
            node = tree.behind(node) - 1;
        } else if (is_memory) {
            has_memory = true;
            change(writer, tree, node, {{"reg", reg}});
        } else if (node == chosen) {
            change_chosen(writer, tree, node, modules.ramdisk, keeps_clocks);
        } else if (std::find(disabled.begin(), disabled.end(), node) != disabled.end()) {
            change(writer, tree, node, {{"status", status}});
        }
    }
    if (!writer.finish()) return {"cannot write the guest's device tree", "too little room"};
    return {};
}

} // namespace mmioscope
