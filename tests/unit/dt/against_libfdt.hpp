// Compares a device tree as read by libfdt and by the hypervisor's own reader.
#pragma once

#include "dt/tree.hpp"

#include <libfdt.h>

#include <map>
#include <string>

namespace mmioscope {

/// Compares each node's name, parent, children, cells and properties, and the targets of its path
/// and each alias, and whether the tree is sound. Returns the first difference; empty: none.
inline std::string difference_from_libfdt(const Tree& tree) {
    const void* blob = tree.blob();
    if (const int error = fdt_check_full(blob, tree.size()); error != 0)
        return std::string("soundness: ") + fdt_strerror(error);
    int tokens = 0;
    if (fdt_next_tag(blob, 0, &tokens) != FDT_BEGIN_NODE) return ""; // libfdt's root is at 0

    std::map<int, int> number{{-FDT_ERR_NOTFOUND, -1}}; // by libfdt's offset
    for (int offset = 0; offset >= 0; offset = fdt_next_node(blob, offset, nullptr))
        number.emplace(offset, static_cast<int>(number.size()) - 1);
    if (static_cast<int>(number.size()) - 1 != tree.count()) return "the number of nodes";

    bool slashes = false; // in a name, which breaks libfdt's paths
    for (int node = 0; node < tree.count(); ++node)
        slashes |= std::string(tree.name(node)).find('/') != std::string::npos;

    const auto cells = [](int count) { return count < 0 ? 0u : static_cast<unsigned>(count); };
    for (const auto& [offset, node] : number) {
        if (node < 0) continue;
        const std::string name = fdt_get_name(blob, offset, nullptr);
        if (name != tree.name(node)) return "the name of " + name;
        if (number[fdt_parent_offset(blob, offset)] != tree.parent(node))
            return "the parent of " + name;
        if (number[fdt_first_subnode(blob, offset)] != tree.first_child(node))
            return "the child of " + name;
        if (node != 0 && number[fdt_next_subnode(blob, offset)] != tree.next_child(node))
            return "the node behind " + name;
        if (cells(fdt_address_cells(blob, offset)) != tree.address_cells(node) ||
            cells(fdt_size_cells(blob, offset)) != tree.size_cells(node))
            return "the cells of " + name;

        char path[1024], own[1024];
        if (!slashes && fdt_get_path(blob, offset, path, sizeof path) == 0) {
            tree.path(node, own, sizeof own);
            if (std::string(path) != own) return "the path of " + name;
            if (number[fdt_path_offset(blob, path)] != tree.find(path))
                return "where it leads: " + name;
        }

        Property property;
        std::size_t place = tree.first_property(node);
        int at = 0;
        fdt_for_each_property_offset(at, blob, offset) {
            const char* called = nullptr;
            int size = 0;
            const void* value = fdt_getprop_by_offset(blob, at, &called, &size);
            if (!tree.next_property(place, property) || std::string(called) != property.name ||
                value != property.value || static_cast<std::size_t>(size) != property.size)
                return "a property of " + name;
            if (fdt_getprop(blob, offset, called, nullptr) != tree.property(node, called).value)
                return "a property looked for in " + name;
            const char* path_of = fdt_get_alias(blob, called);
            if (path_of == nullptr || property.text() == nullptr || *path_of != '/' ||
                std::string(called).find('/') != std::string::npos || *called == '\0')
                continue;
            if (name == "aliases" && tree.parent(node) == 0 &&
                number[fdt_path_offset(blob, called)] != tree.find(called))
                return std::string("the alias ") + called;
        }
        if (tree.next_property(place, property)) return "a property too many of " + name;
    }
    return "";
}

} // namespace mmioscope
