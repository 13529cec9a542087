#include "registers/svd_bases.hpp"

#include "registers/svd_node.hpp"

#include <algorithm>

namespace mmioscope::registers {

pugi::xml_node SvdBases::of(pugi::xml_node node) {
    const auto [base, fresh] = bases_.try_emplace(node.internal_object());
    if (fresh) {
        base->second = find(node);
    }
    return base->second;
}

// Searches a name among the element's siblings; one with dots from the peripherals on.
pugi::xml_node SvdBases::find(pugi::xml_node node) {
    std::string_view path = node.attribute("derivedFrom").value();
    pugi::xml_node found = named(node.parent(), node.name(), path);
    if (!found && path.find('.') != std::string_view::npos) {
        found = node.root().child("device").child("peripherals");
        while (found && !path.empty()) {
            const std::string_view name = path.substr(0, path.find('.'));
            path.remove_prefix(std::min(path.size(), name.size() + 1));
            found = step(found, name);
        }
    }
    return found;
}

pugi::xml_node SvdBases::step(pugi::xml_node from, std::string_view name) {
    for (const char* list : {"", "registers", "fields"}) {
        const pugi::xml_node in = *list == 0 ? from : from.child(list);
        for (const char* kind :
             {"peripheral", "cluster", "register", "field", "enumeratedValues"}) {
            if (const pugi::xml_node found = named(in, kind, name)) {
                return found;
            }
        }
    }
    return {};
}

// The first one with this name.
pugi::xml_node SvdBases::named(pugi::xml_node list, std::string_view kind, std::string_view name) {
    const auto [names, fresh] = lists_.try_emplace(list.internal_object());
    if (fresh) {
        for (const pugi::xml_node child : list.children()) {
            names->second.try_emplace({child.name(), one_line(child.child_value("name"))}, child);
        }
    }
    const auto found = names->second.find({std::string(kind), std::string(name)});
    return found == names->second.end() ? pugi::xml_node() : found->second;
}

} // namespace mmioscope::registers
