// Where an import keeps the lines PCIDEV of an mmiotrace log, so that an export has them again: in
// the trace's text, keys `pcidev-BBDF` with all that stands behind it in the line.
#pragma once

#include <string_view>

namespace mmioscope::logs {

inline constexpr std::string_view pci_key = "pcidev-";

} // namespace mmioscope::logs
