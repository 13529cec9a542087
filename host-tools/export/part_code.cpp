#include "export/part_code.hpp"

#include "abi/layout.hpp"
#include "reading/strip_code.hpp"
#include "tree/device_tree.hpp"

#include <libfdt.h>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace mmioscope::exporting {

std::string text_without_code(std::span<const std::byte> payload) {
    std::string_view rest(reinterpret_cast<const char*>(payload.data()), payload.size());
    std::string kept;
    while (!rest.empty()) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
        const std::string_view key = line.substr(0, line.find('='));
        if (std::find(std::begin(reading::texts_with_code), std::end(reading::texts_with_code),
                      key) == std::end(reading::texts_with_code)) {
            kept += std::string(line) + "\n";
        }
    }
    return kept;
}

std::vector<std::byte> tree_without_code(std::span<const std::byte> payload) {
    if (!tree::tree_is_sound(payload)) {
        return {};
    }
    std::vector<std::byte> tree(payload.begin(), payload.end());
    const int chosen = fdt_path_offset(tree.data(), "/chosen");
    if (chosen >= 0) {
        fdt_nop_property(tree.data(), chosen, abi::chosen::requests);
    }
    return tree;
}

} // namespace mmioscope::exporting
