#include "run/selection.hpp"

#include "abi/stack.hpp"
#include "system/error.hpp"
#include "system/suggestion.hpp"
#include "system/units.hpp"
#include "tree/device_names.hpp"
#include "tree/device_tree.hpp"
#include "tree/tree_nodes.hpp"

#include <algorithm>
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

// The hypervisor reads only plain numbers: 64K becomes 0x10000.
std::string plain_range(std::string_view word) {
    const std::size_t plus = word.find('+');
    return fmt::format("{:#x}+{:#x}", *parse_number(word.substr(0, plus)),
                       *parse_size(word.substr(plus + 1)));
}

[[noreturn]] void unknown(std::string_view option, const std::string& word, const Bytes& tree) {
    Suggestion nearest(word);
    const tree::Aliases aliases = tree::aliases(tree);
    for (const auto& [alias, path] : aliases) {
        nearest.add(alias);
    }
    for (const std::string& path : device_paths(tree)) {
        for (const std::string& name : tree::names_of(path, aliases)) {
            nearest.add(name);
        }
    }
    throw bad_input("{}: there is no device '{}'{} (all, none, BASE+SIZE or a device of the "
                    "tree: see dtc -I dtb FILE, or mmioscope info of a trace of this board)",
                    option, word, nearest.text());
}

// `word` in the hypervisor's form.
std::string resolve(const std::string& word, const Bytes& tree) {
    if (word == "all" || word == "none") {
        return word;
    }
    if (is_range(word)) {
        return plain_range(word);
    }
    const auto aliases = tree::aliases(tree);
    if (aliases.contains(word) || tree::TreeNodes(tree).find(word) != tree::TreeNodes::none) {
        return word;
    }
    const std::vector<std::string> all = device_paths(tree);
    const auto matches = tree::paths_called(word, aliases, {all.begin(), all.end()});
    if (matches.size() != 1) {
        unknown("--trace", word, tree);
    }
    return std::string(matches.front());
}

} // namespace

std::vector<std::string> device_paths(const Bytes& tree) {
    const tree::TreeNodes nodes(tree);
    std::vector<std::string> paths;
    for (std::size_t node = 0; node < nodes.size(); ++node) {
        if (nodes.has(node, "reg") && !nodes.is_memory(node) && nodes.is_reachable(node)) {
            paths.push_back(nodes.path(node));
        }
    }
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

StackChoice choose_stacks(std::string_view text, const Bytes& tree) {
    const std::size_t colon = text.find(':');
    const bool sized = colon != std::string_view::npos;
    const auto size = sized ? parse_size(text.substr(0, colon)) : abi::default_stack;
    if (!size || *size == 0 || *size % 4 != 0 || *size > abi::most_stack) {
        throw bad_input("--stack {}: a stack has a multiple of 4 bytes, up to {}", text,
                        abi::most_stack);
    }
    StackChoice choice{static_cast<std::uint32_t>(*size), {}};
    const std::vector<std::string> paths = device_paths(tree);
    for (const std::string& word : split({std::string(text.substr(sized ? colon + 1 : 0))})) {
        const auto called =
            word == "all" || word == "calls"
                ? std::vector<std::string_view>{word}
                : tree::paths_called(word, tree::aliases(tree), {paths.begin(), paths.end()});
        if (called.empty()) {
            unknown("--stack", word, tree);
        }
        choice.devices.insert(choice.devices.end(), called.begin(), called.end());
    }
    if (choice.devices.empty()) {
        throw bad_input("--stack {}: there is no device", text);
    }
    return choice;
}

namespace {

/// The path if it fits, otherwise its end after "~", as in a trace.
void set_path(std::string path, abi::RegionEntry& region) {
    if (path.size() >= abi::path_size) {
        path = "~" + path.substr(path.size() - (abi::path_size - 2));
    }
    path.copy(region.path, path.size());
}

void add_node(const tree::TreeNodes& tree, std::size_t node, std::vector<abi::RegionEntry>& to) {
    constexpr std::uint64_t reach = std::uint64_t{1} << 32;
    std::uint16_t index = 0;
    for (const auto& [base, size] : tree.reg(node)) {
        if (size == 0) {
            return; // the hypervisor stops here, too
        }
        abi::RegionEntry region{};
        region.base = base;
        region.size = size;
        region.reg_index = index++;
        set_path(tree.path(node), region);
        if (base < reach && size <= reach - base) {
            to.push_back(region);
        }
    }
}

} // namespace

wire::StreamHead tree_devices(const Bytes& tree) {
    wire::StreamHead head{};
    const tree::TreeNodes nodes(tree);
    for (std::size_t node = 0; node < nodes.size(); ++node) {
        if (!nodes.is_memory(node)) {
            add_node(nodes, node, head.regions);
        }
    }
    head.aliases = tree::aliases(tree);
    return head;
}

} // namespace mmioscope::run
