// Removes addresses of the guest's code from sections other than records: the user's requests
// before the boot and the recorder's command line may contain them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace mmioscope::exporting {

/// The lines of a text except those of reading::texts_with_code.
std::string text_without_code(std::span<const std::byte> payload);

/// The device tree without the board's requests; empty if it is invalid.
std::vector<std::byte> tree_without_code(std::span<const std::byte> payload);

} // namespace mmioscope::exporting
