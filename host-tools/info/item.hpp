// What is said of a trace, for programs: an item for each thing, of whatever kind it is.
#pragma once

#include "export/cell.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mmioscope::info {

/// The first property is always there, others only where they are known and mean something.
struct Item {
    std::string_view about; ///< the kind of thing: "trace", "device", ...
    std::string name;       ///< of this one; empty: it needs none
    std::vector<std::pair<std::string_view, exporting::Cell>> properties;
};

using Items = std::vector<Item>;

/// An object a line: `about`, `name`, and the properties.
std::string jsonl_text(const Items& items);

/// A line for each property: about, name, property, value; these titles in front. Values are plain
/// text, with a '?' for what is not.
std::string csv_text(const Items& items);

} // namespace mmioscope::info
