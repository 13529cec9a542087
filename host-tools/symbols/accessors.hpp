// Functions of Linux that access a device for whoever calls them.
#pragma once

#include <string_view>

namespace mmioscope::symbols {

/// Whether `function` belongs to a family of docs/stacks.md, "Accessors".
bool is_accessor(std::string_view function);

} // namespace mmioscope::symbols
