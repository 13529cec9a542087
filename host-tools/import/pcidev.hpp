// Keeps the PCIDEV lines of an imported mmiotrace log for a later export: in the trace's text, with
// the key `pcidev-BBDF` and the rest of the line as the value.
#pragma once

#include <string_view>

namespace mmioscope::importing {

inline constexpr std::string_view pci_key = "pcidev-";

} // namespace mmioscope::importing
