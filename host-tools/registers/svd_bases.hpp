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
    /// The element that `derivedFrom` of `node` names; null if there is none.
    pugi::xml_node of(pugi::xml_node node);

private:
    using Names = std::map<std::pair<std::string, std::string>, pugi::xml_node>; ///< kind, name

    pugi::xml_node find(pugi::xml_node node);
    pugi::xml_node step(pugi::xml_node from, std::string_view name);
    pugi::xml_node named(pugi::xml_node list, std::string_view kind, std::string_view name);

    std::unordered_map<const void*, pugi::xml_node> bases_; ///< by element
    std::unordered_map<const void*, Names> lists_;          ///< by the element that contains them
};

} // namespace mmioscope::registers
