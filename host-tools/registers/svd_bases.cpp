#include "registers/svd_bases.hpp"

#include "registers/svd_node.hpp"

#include <algorithm>
#include <vector>

namespace mmioscope::registers {

namespace {

constexpr std::size_t longest_array_name = 64; ///< limit for names of elements of arrays
constexpr std::size_t longest_index = 8;       ///< likewise, of the part that numbers them

bool is_index(std::string_view text) {
    return std::ranges::all_of(text, [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    });
}

// "R[%s]_X" as "R", "_X".
std::pair<std::string, std::string> around_index(const std::string& name) {
    const std::size_t at = name.find("%s");
    const bool brackets = at > 0 && name[at - 1] == '[' && name.compare(at + 2, 1, "]") == 0;
    return {name.substr(0, at - brackets), name.substr(at + 2 + brackets)};
}

} // namespace

pugi::xml_node SvdBases::of(pugi::xml_node node) {
    const auto [base, fresh] = bases_.try_emplace(node.internal_object());
    if (fresh) {
        base->second = find(node);
    }
    return base->second;
}

pugi::xml_node SvdBases::find(pugi::xml_node node) {
    const std::string_view path = node.attribute("derivedFrom").value();
    pugi::xml_node found;
    for (pugi::xml_node scope = node.parent(); scope && !found; scope = scope.parent()) {
        found = inside(scope, node.name(), path);
        found = found == node ? pugi::xml_node() : found;
    }
    return found;
}

pugi::xml_node SvdBases::inside(pugi::xml_node scope, std::string_view kind,
                                std::string_view path) {
    for (std::size_t dot; scope && (dot = path.find('.')) != path.npos;) {
        scope = step(scope, path.substr(0, dot));
        path.remove_prefix(dot + 1);
    }
    if (!scope) {
        return {};
    }
    if (kind == "enumeratedValues") {
        return values(scope, path);
    }
    for (const char* list : {"", "registers", "fields"}) {
        if (const auto found = named(*list == 0 ? scope : scope.child(list), kind, path)) {
            return found;
        }
    }
    return {};
}

pugi::xml_node SvdBases::step(pugi::xml_node from, std::string_view name) {
    for (const char* list : {"", "registers", "fields"}) {
        const pugi::xml_node in = *list == 0 ? from : from.child(list);
        for (const char* kind : {"peripheral", "cluster", "register", "field"}) {
            if (const pugi::xml_node found = named(in, kind, name)) {
                return found;
            }
        }
    }
    return {};
}

// The first one with this name; else the array that has an element with it.
pugi::xml_node SvdBases::named(pugi::xml_node in, std::string_view kind, std::string_view name) {
    const auto [known, fresh] = lists_.try_emplace(in.internal_object());
    List& list = known->second;
    if (fresh) {
        for (const pugi::xml_node child : in.children()) {
            const std::string own = one_line(child.child_value("name"));
            list.named.try_emplace({child.name(), own}, child);
            if (own.find("%s") != own.npos) {
                const auto [before, behind] = around_index(own);
                list.arrays[{child.name(), before}].try_emplace(behind, child);
            }
        }
    }
    const auto found = list.named.find({std::string(kind), std::string(name)});
    if (found != list.named.end()) {
        return found->second;
    }
    if (list.arrays.empty() || name.size() > longest_array_name) {
        return {};
    }
    for (std::size_t at = 0; at < name.size(); ++at) {
        const auto array = list.arrays.find({std::string(kind), std::string(name.substr(0, at))});
        for (std::size_t length = 1;
             array != list.arrays.end() && length <= longest_index && at + length <= name.size();
             ++length) {
            const auto element = array->second.find(std::string(name.substr(at + length)));
            if (element != array->second.end() && is_index(name.substr(at, length))) {
                return element->second;
            }
        }
    }
    return {};
}

// In the order of the file: lists of values by their own name, then by their field's.
pugi::xml_node SvdBases::values(pugi::xml_node scope, std::string_view name) {
    const auto [known, fresh] = values_.try_emplace(scope.internal_object());
    Values& all = known->second;
    if (fresh) {
        struct Walker : pugi::xml_tree_walker {
            bool for_each(pugi::xml_node& node) override {
                if (std::string_view(node.name()) == "enumeratedValues") {
                    own.try_emplace(one_line(node.child_value("name")), node);
                    fields.try_emplace(one_line(node.parent().child_value("name")), node);
                }
                return true;
            }
            Values own;
            Values fields;
        } walker;
        scope.traverse(walker);
        all = std::move(walker.own);
        all.erase("");
        all.merge(walker.fields);
    }
    const auto found = all.find(std::string(name));
    return found == all.end() ? pugi::xml_node() : found->second;
}

} // namespace mmioscope::registers
