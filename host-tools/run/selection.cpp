#include "run/selection.hpp"

#include "system/error.hpp"
#include "system/units.hpp"
#include "tree/device_tree.hpp"

#include <libfdt.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace mmioscope::run {

namespace {

std::vector<std::string> split(const std::vector<std::string>& arguments) {
    std::vector<std::string> words;
    for (std::string_view rest : arguments) {
        while (!rest.empty()) {
            const std::string_view word = rest.substr(0, rest.find(','));
            rest.remove_prefix(std::min(rest.size(), word.size() + 1));
            if (!word.empty()) {
                words.emplace_back(word);
            }
        }
    }
    return words;
}

bool is_range(std::string_view word) {
    const std::size_t plus = word.find('+');
    return plus != std::string_view::npos && parse_number(word.substr(0, plus)) &&
           parse_size(word.substr(plus + 1)).value_or(0) > 0;
}

// The hypervisor reads plain numbers: 64K becomes 0x10000.
std::string plain_range(std::string_view word) {
    const std::size_t plus = word.find('+');
    return fmt::format("{:#x}+{:#x}", *parse_number(word.substr(0, plus)),
                       *parse_size(word.substr(plus + 1)));
}

std::string node_path(const Bytes& tree, int node) {
    std::array<char, 512> path{};
    return fdt_get_path(tree.data(), node, path.data(), path.size()) == 0 ? path.data() : "";
}

bool has(const Bytes& tree, int node, const char* property) {
    return fdt_getprop(tree.data(), node, property, nullptr) != nullptr;
}

// Nodes below this one have addresses of the CPU's.
bool is_bus(const Bytes& tree, int node) {
    return has(tree, node, "ranges");
}

void collect(const Bytes& tree, int parent, std::vector<std::string>& paths) {
    int node = 0;
    fdt_for_each_subnode(node, tree.data(), parent) {
        const void* type = fdt_getprop(tree.data(), node, "device_type", nullptr);
        const bool memory =
            type != nullptr && std::string_view(static_cast<const char*>(type)) == "memory";
        if (has(tree, node, "reg") && !memory) {
            paths.push_back(node_path(tree, node));
        }
        if (is_bus(tree, node)) {
            collect(tree, node, paths);
        }
    }
}

[[noreturn]] void unknown(const std::string& word, const Bytes& tree) {
    std::string known;
    for (const auto& [alias, path] : tree::aliases(tree)) {
        known += fmt::format("\n  {} = {}", alias, path);
    }
    for (const std::string& path : device_paths(tree)) {
        known += fmt::format("\n  {}", path);
    }
    throw bad_input("unknown device to trace: '{}'; known are all, none, BASE+SIZE and:{}", word,
                    known);
}

// `word` as the hypervisor understands it.
std::string resolve(const std::string& word, const Bytes& tree) {
    if (word == "all" || word == "none") {
        return word;
    }
    if (is_range(word)) {
        return plain_range(word);
    }
    const bool known = word.starts_with('/') ? fdt_path_offset(tree.data(), word.c_str()) >= 0
                                             : tree::aliases(tree).contains(word);
    if (known) {
        return word;
    }
    std::vector<std::string> matches;
    for (const std::string& path : device_paths(tree)) {
        if (path.ends_with("/" + word)) {
            matches.push_back(path);
        }
    }
    if (matches.size() != 1) {
        unknown(word, tree);
    }
    return matches.front();
}

} // namespace

std::vector<std::string> device_paths(const Bytes& tree) {
    std::vector<std::string> paths;
    collect(tree, 0, paths);
    return paths;
}

std::vector<std::string> select_devices(const std::vector<std::string>& arguments,
                                        const Bytes& tree) {
    std::vector<std::string> words = split(arguments);
    for (std::string& word : words) {
        const bool exclude = word.starts_with('!');
        word = (exclude ? "!" : "") + resolve(word.substr(exclude ? 1 : 0), tree);
    }
    return words;
}

} // namespace mmioscope::run
