// Finds the elements of an SVD file that others refer to with `derivedFrom`.
#pragma once

#include <pugixml.hpp>

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace mmioscope::registers {

/// Caches its results, because an element is requested once for each thing that it may inherit.
class SvdBases {
public:
    /// The element that `derivedFrom` of `node` names, never itself; null if there is none. The
    /// name, which may be a path with dots, counts from each element around `node`, the innermost
    /// first. It may name one element of an array. Named values are also found by their own name or
    /// by their field's, anywhere inside these elements: vendors' files use all of these.
    pugi::xml_node of(pugi::xml_node node);

private:
    using Key = std::pair<std::string, std::string>; ///< kind, name
    struct List {
        std::map<Key, pugi::xml_node> named;
        std::map<Key, std::map<std::string, pugi::xml_node>> arrays; ///< before %s; behind it
    };
    using Values = std::unordered_map<std::string, pugi::xml_node>; ///< by name

    pugi::xml_node find(pugi::xml_node node);
    pugi::xml_node inside(pugi::xml_node scope, std::string_view kind, std::string_view path);
    pugi::xml_node step(pugi::xml_node from, std::string_view name);
    pugi::xml_node named(pugi::xml_node list, std::string_view kind, std::string_view name);
    pugi::xml_node values(pugi::xml_node scope, std::string_view name);

    std::unordered_map<const void*, pugi::xml_node> bases_; ///< by element
    std::unordered_map<const void*, List> lists_;           ///< by the element that contains them
    std::unordered_map<const void*, Values> values_;        ///< likewise, at any depth
};

} // namespace mmioscope::registers
