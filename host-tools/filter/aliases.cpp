#include "filter/aliases.hpp"

#include "tree/device_tree.hpp"
#include "tree/tree_nodes.hpp"

namespace mmioscope::filter {

namespace {

void add_path(std::vector<std::string>& names, std::string_view path) {
    if (path.starts_with('~')) {
        path.remove_prefix(1); // it was too long: only its end is known
    }
    for (std::string_view end = path; !end.empty();) {
        names.emplace_back(end);
        const std::size_t slash = end.find('/');
        end.remove_prefix(slash == std::string_view::npos ? end.size() : slash + 1);
    }
    const std::string_view node = path.substr(path.rfind('/') + 1);
    names.emplace_back(node.substr(0, node.find('@')));
}

void add_compatible(std::vector<std::string>& names, const tree::TreeNodes& tree,
                    std::string_view path) {
    const std::size_t node = tree.find(path);
    if (node == tree::TreeNodes::none) {
        return;
    }
    for (const std::string& text : tree.strings(node, "compatible")) {
        names.push_back(text);
        names.push_back(text.substr(text.find(',') + 1));
    }
}

} // namespace

std::vector<std::vector<std::string>> device_aliases(const trace::TraceReader& reader) {
    std::vector<std::vector<std::string>> all;
    const tree::TreeNodes tree(reader.tree());
    const auto aliases = tree::aliases(reader.tree());
    for (const abi::RegionEntry& region : reader.regions()) {
        const std::string_view path = tree::region_path(region);
        std::vector<std::string> names;
        names.emplace_back(reader.names()[static_cast<std::uint16_t>(all.size())]);
        add_path(names, path);
        for (const auto& [alias, node] : aliases) {
            if (node == path) {
                names.push_back(alias);
            }
        }
        add_compatible(names, tree, path);
        all.push_back(std::move(names));
    }
    return all;
}

} // namespace mmioscope::filter
