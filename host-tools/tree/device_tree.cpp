#include "tree/device_tree.hpp"

#include "abi/flat_tree.hpp"
#include "system/error.hpp"
#include "system/open_source.hpp"
#include "tree/known_file.hpp"

#include <libfdt.h>

#include <cstring>

namespace mmioscope::tree {

bool tree_is_sound(std::span<const std::byte> tree) {
    return abi::properties_end(tree.data(), tree.size()) &&
           fdt_check_full(tree.data(), tree.size()) == 0;
}

std::vector<std::byte> read_tree(const std::string& path) {
    constexpr std::size_t most = 16u << 20;
    const std::unique_ptr<ByteSource> source = open_source(path);
    std::vector<std::byte> tree(most);
    tree.resize(source->read(tree.data(), tree.size()));
    if (!tree_is_sound(tree)) {
        const std::string known = known_or(tree, "");
        throw bad_input("{}: this is not a flattened device tree{}", path,
                        known.starts_with(": it is a device") ? " as a whole: cut off or damaged"
                                                              : known);
    }
    if (const std::string known = known_tree(tree); !known.empty()) {
        throw bad_input("{}: this is {}", path, known);
    }
    return tree;
}

Aliases aliases(std::span<const std::byte> tree) {
    Aliases found;
    if (!tree_is_sound(tree)) {
        return found;
    }
    const int node = fdt_path_offset(tree.data(), "/aliases");
    if (node < 0) {
        return found;
    }
    int property = 0;
    fdt_for_each_property_offset(property, tree.data(), node) {
        if (found.size() == most_aliases) {
            break;
        }
        const char* name = nullptr;
        int length = 0;
        const void* value = fdt_getprop_by_offset(tree.data(), property, &name, &length);
        if (value != nullptr && length > 0) {
            const char* path = static_cast<const char*>(value);
            found[name] = std::string(path, ::strnlen(path, static_cast<std::size_t>(length)));
        }
    }
    return found;
}

} // namespace mmioscope::tree
