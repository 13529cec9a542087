#include "dt/guest_tree.hpp"

#include "abi/control.hpp"
#include "abi/layout.hpp"
#include "abi/ring.hpp"

extern "C" {
#include <libfdt.h>
}

#include <algorithm>
#include <cstring>
#include <initializer_list>

namespace mmioscope {

namespace {

BootError failed(int code) {
    return {"cannot write the guest's device tree", fdt_strerror(code)};
}

class Cells {
public:
    void add(std::uint64_t value, int cells) {
        for (int i = cells - 1; i >= 0 && count_ < max; --i)
            fdt32_st(&cells_[count_++], i >= 2 ? 0 : static_cast<std::uint32_t>(value >> (32 * i)));
    }
    const void* data() const { return cells_; }
    int bytes() const { return static_cast<int>(count_ * sizeof(fdt32_t)); }

private:
    static constexpr unsigned max = 16 * 4;
    fdt32_t cells_[max];
    unsigned count_{};
};

int first_memory_node(const void* blob) {
    return fdt_node_offset_by_prop_value(blob, -1, "device_type", "memory", sizeof "memory");
}

/// All memory goes into the first memory node; the others are deleted.
int set_memory(void* blob, const MemoryMap& memory) {
    const int node = first_memory_node(blob);
    if (node < 0) return node;
    Cells reg;
    for (const Range& range : memory) {
        reg.add(range.begin, fdt_address_cells(blob, 0));
        reg.add(range.size(), fdt_size_cells(blob, 0));
    }
    if (const int e = fdt_setprop(blob, node, "reg", reg.data(), reg.bytes()); e != 0) return e;
    for (;;) {
        const int first = first_memory_node(blob);
        const int other =
            fdt_node_offset_by_prop_value(blob, first, "device_type", "memory", sizeof "memory");
        if (other < 0) return 0;
        if (const int e = fdt_del_node(blob, other); e != 0) return e;
    }
}

int delete_modules(void* blob) {
    for (const char* compatible : {abi::chosen::kernel, abi::chosen::ramdisk})
        for (;;) {
            const int node = fdt_node_offset_by_compatible(blob, -1, compatible);
            if (node < 0) break;
            if (const int e = fdt_del_node(blob, node); e != 0) return e;
        }
    return 0;
}

int set_chosen(void* blob, const BootModules& modules) {
    const int chosen = fdt_path_offset(blob, "/chosen");
    if (chosen < 0) return chosen;
    for (const char* own :
         {abi::chosen::trace, abi::chosen::engine, abi::chosen::policy, abi::chosen::area_size,
          abi::chosen::uart, abi::chosen::stream, abi::chosen::stream_baud,
          abi::chosen::stream_paced, abi::chosen::stream_quantum, abi::chosen::stream_shared,
          abi::chosen::stream_fold, abi::chosen::host_reader, abi::chosen::control,
          abi::chosen::pre, abi::chosen::guest_reader, abi::chosen::requests})
        if (const int e = fdt_delprop(blob, chosen, own); e != 0 && e != -FDT_ERR_NOTFOUND)
            return e;
    if (modules.ramdisk.empty()) return 0;
    if (const int e = fdt_setprop_u64(blob, chosen, "linux,initrd-start", modules.ramdisk.begin))
        return e;
    return fdt_setprop_u64(blob, chosen, "linux,initrd-end", modules.ramdisk.end);
}

/// A stringlist of at most two words.
class Words {
public:
    void add(const char* word) {
        const std::size_t size = std::strlen(word) + 1;
        std::memcpy(text_ + size_, word, size);
        size_ += size;
    }
    int set(void* blob, int node, const char* property) const {
        return fdt_setprop(blob, node, property, text_, static_cast<int>(size_));
    }

private:
    char text_[64];
    std::size_t size_{};
};

int announce(void* blob, const ControlRanges& control) {
    Cells reg;
    Words names, compatible;
    const auto add = [&](const Range& range, const char* name) {
        reg.add(range.begin, fdt_address_cells(blob, 0));
        reg.add(range.size(), fdt_size_cells(blob, 0));
        names.add(name);
    };
    if (!control.page.empty()) {
        add(control.page, "control");
        compatible.add(abi::control::compatible);
    }
    add(control.area, "trace");
    if (control.readable) compatible.add(abi::readable_compatible);

    const int node = fdt_add_subnode(blob, 0, "mmioscope");
    if (node < 0) return node;
    if (const int e = names.set(blob, node, "reg-names"); e != 0) return e;
    if (const int e = fdt_setprop(blob, node, "reg", reg.data(), reg.bytes()); e != 0) return e;
    return compatible.set(blob, node, "compatible");
}

} // namespace

BootError make_guest_tree(const Tree& tree, const MemoryMap& memory, const BootModules& modules,
                          int uart_node, int stream_node, void* out, std::uint32_t room,
                          const ControlRanges& control) {
    if (const int e = fdt_open_into(tree.blob(), out, static_cast<int>(room)); e != 0)
        return failed(e);
    // First what is known by offset, the last one first: fdt_open_into keeps offsets, an edit moves
    // those behind it.
    for (const int node : {std::max(uart_node, stream_node), std::min(uart_node, stream_node)})
        if (node >= 0)
            if (const int e = fdt_setprop_string(out, node, "status", "disabled"); e != 0)
                return failed(e);
    if (const int e = set_memory(out, memory); e != 0) return failed(e);
    if (const int e = set_chosen(out, modules); e != 0) return failed(e);
    if (const int e = delete_modules(out); e != 0) return failed(e);
    if (!control.page.empty() || control.readable)
        if (const int e = announce(out, control); e != 0) return failed(e);
    if (const int e = fdt_pack(out); e != 0) return failed(e);
    return {};
}

} // namespace mmioscope
