// Words for numbers in a trace file.
#pragma once

#include "abi/container.hpp"

#include <string_view>

namespace mmioscope::view {

/// "shadow", ...; "unknown" for values newer than this program. The same holds for section_word().
std::string_view engine_word(abi::EngineKind engine);

/// "device tree", ...
std::string_view section_word(abi::SectionType type);

} // namespace mmioscope::view
