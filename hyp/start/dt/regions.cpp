#include "dt/regions.hpp"

#include "abi/chosen.hpp"
#include "arch/lpae.hpp"

#include <algorithm>
#include <cstring>

namespace mmioscope {

namespace {

/// Devices whose content is memory: tracing them would trace accesses to code and pixels.
bool is_memory_like(const Tree& tree, int node) {
    return tree.compatible(node, {"cfi-flash", "mtd-ram", "mtd-rom", "mmio-sram", "jedec-flash"});
}

std::uint16_t flags_of(const Tree& tree, int node, int reserved_memory) {
    std::uint16_t flags = 0;
    if (tree.disabled(node)) flags |= abi::region_disabled;
    if (tree.parent(node) == reserved_memory || is_memory_like(tree, node))
        flags |= abi::region_memory;
    return flags;
}

/// Calls visit(index, range, memory) for each range of addresses at which the CPU meets the device:
/// its `reg`, and a PCI host's windows, with the following indices. Stops when that is false.
template <class Visit>
void for_each_range(const Tree& tree, int node, Visit&& visit) {
    auto place = tree.first_reg(node);
    for (Range range; tree.next_reg(place, range);)
        if (!visit(place.index - 1, range, false)) return;
    Tree::Window window{};
    for (unsigned n = 0; tree.pci_window(node, n, window); ++n)
        if (!window.range.empty() && !visit(place.index + n, window.range, window.prefetchable))
            return;
}

/// Parses "0x1c090000+0x1000". False: `text` is not a range.
bool parse_range(const char* text, Range& out) {
    std::uint64_t number[2] = {0, 0};
    for (int i = 0; i < 2; ++i) {
        if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) text += 2;
        const char* start = text;
        for (;; ++text) {
            unsigned digit;
            if (*text >= '0' && *text <= '9') digit = static_cast<unsigned>(*text - '0');
            else if (*text >= 'a' && *text <= 'f') digit = static_cast<unsigned>(*text - 'a' + 10);
            else if (*text >= 'A' && *text <= 'F') digit = static_cast<unsigned>(*text - 'A' + 10);
            else break;
            number[i] = (number[i] << 4) | digit;
        }
        if (text == start || text - start > 10) return false;
        if (*text != (i == 0 ? '+' : '\0')) return false;
        ++text;
    }
    out = {number[0], number[0] + number[1]};
    return !out.empty();
}

constexpr BootError no_room{"too many devices for the region map", ""};

BootError select_all(const RegionTable& regions, RegionMap& map, bool traced) {
    for (const abi::RegionEntry& r : regions)
        if (((r.flags & abi::region_memory) == 0 || !traced) && !map.select(range_of(r), traced))
            return no_room;
    return {};
}

/// A range without any device selects nothing, and is most likely a mistake.
bool any_region_in(const RegionTable& regions, Range range) {
    for (const abi::RegionEntry& r : regions)
        if (range_of(r).overlaps(range)) return true;
    return false;
}

BootError select_one(const Tree& tree, const RegionTable& regions, RegionMap& map,
                     const char* entry) {
    const bool traced = entry[0] != '!';
    const char* name = traced ? entry : entry + 1;
    if (std::strcmp(name, "all") == 0) return select_all(regions, map, traced);
    if (std::strcmp(name, "none") == 0) return select_all(regions, map, !traced);

    Range range;
    if (parse_range(name, range)) {
        if (!any_region_in(regions, range))
            return {"no device at the address to trace", entry, true};
        return map.select(range, traced) ? BootError{} : no_room;
    }
    const int node = tree.find(name);
    BootError error{"unknown device to trace", entry, true};
    if (node < 0) return error;
    for_each_range(tree, node, [&](unsigned, const Range& of_node, bool) {
        error = map.select(of_node, traced) ? BootError{} : no_room;
        return !error;
    });
    return error;
}

} // namespace

BootError list_regions(const Tree& tree, RegionTable& regions, int& beyond_reach) {
    beyond_reach = -1;
    if (tree.cell(0, "#address-cells", 2) > 2 || tree.cell(0, "#size-cells", 1) > 2)
        return {"the device tree's root has more than two cells for addresses or sizes", "/"};
    const int reserved_memory = tree.find("/reserved-memory");
    for (int node = 0; node < tree.count(); ++node) {
        if (tree.is_type(node, "memory")) continue;
        bool room = true;
        for_each_range(tree, node, [&](unsigned index, const Range& range, bool memory) {
            if (range.end > lpae::input_end) {
                if (beyond_reach < 0) beyond_reach = node;
                return true;
            }
            abi::RegionEntry entry{};
            entry.base = range.begin;
            entry.size = range.size();
            entry.reg_index = static_cast<std::uint16_t>(index);
            entry.flags = flags_of(tree, node, reserved_memory);
            if (memory) entry.flags |= abi::region_memory;
            tree.path(node, entry.path, sizeof entry.path);
            return room = regions.push_back(entry);
        });
        if (!room) return {"more devices than the region table holds", tree.name(node)};
    }
    return {};
}

BootError list_memory(const Tree& tree, MemoryMap& memory) {
    for (int node = 0; node < tree.count(); ++node) {
        if (!tree.is_type(node, "memory") || tree.disabled(node)) continue;
        auto place = tree.first_reg(node);
        for (Range range; tree.next_reg(place, range);) {
            range = {page_ceil(range.begin), page_floor(std::min(range.end, lpae::input_end))};
            for (const Range& other : memory)
                if (other.overlaps(range))
                    return {"two memory ranges overlap, the second one in", tree.name(node)};
            if (!range.empty() && !memory.push_back(range))
                return {"too many memory ranges", tree.name(node)};
        }
    }
    return memory.empty() ? BootError{"the device tree has no memory node", ""} : BootError{};
}

BootError list_no_map(const Tree& tree, MemoryMap& no_map) {
    const int reserved = tree.find("/reserved-memory");
    if (reserved < 0) return {};
    for (int node = reserved + 1; node < tree.behind(reserved); ++node) {
        if (!tree.has(node, "no-map")) continue;
        for (unsigned n = 0, entries = tree.reg_entries(node); n < entries; ++n) {
            Range range;
            if (!tree.reg(node, n, range) && !tree.untranslated_reg(node, n, range)) continue;
            range = {page_floor(range.begin), page_ceil(std::min(range.end, lpae::input_end))};
            if (!range.empty() && !no_map.push_back(range))
                return {"too many ranges of memory with no-map", tree.name(node)};
        }
    }
    return {};
}

void mark_memory(RegionTable& regions, const MemoryMap& memory) {
    for (abi::RegionEntry& region : regions)
        for (const Range& range : memory)
            if (range_of(region).overlaps(range)) region.flags |= abi::region_memory;
}

bool add_memory(RegionTable& regions, const MemoryMap& memory, Range own) {
    abi::RegionEntry all{};
    std::copy_n(abi::memory_path, sizeof abi::memory_path, all.path);
    if (std::strcmp((regions.end() - 1)->path, all.path) == 0) return true;
    all.base = memory.begin()->begin;
    std::uint64_t end = own.end;
    for (const Range& part : memory) end = std::max(end, part.end);
    all.size = end - all.base;
    all.flags = abi::region_memory;
    return regions.push_back(all);
}

BootError carve(MemoryMap& memory, Range taken) {
    for (std::size_t i = 0; i < memory.size(); ++i) {
        Range& part = memory[i];
        if (!part.overlaps(taken)) continue;
        const Range behind{taken.end, part.end};
        part.end = taken.begin;
        if (part.empty()) {
            if (behind.empty()) memory.erase(i--);
            else part = behind;
        } else if (!behind.empty() && !memory.insert(i + 1, behind)) {
            return {"too many memory ranges", ""};
        }
    }
    return {};
}

BootError select_traced(const Tree& tree, const RegionTable& regions, RegionMap& map) {
    const int chosen = tree.find("/chosen");
    Property list = chosen < 0 ? Property{} : tree.property(chosen, abi::chosen::trace);
    if (!list) return select_all(regions, map, true);
    if (list.size == 0 || list.value[list.size - 1] != '\0')
        return {"mmioscope,trace is no list of strings", ""};
    while (const char* entry = list.take_text())
        if (const BootError e = select_one(tree, regions, map, entry)) return e;
    return {};
}

} // namespace mmioscope
