// Finds the hypervisor's ELF file for a board.
#pragma once

#include <filesystem>
#include <string_view>

namespace mmioscope::run {

/// The file for a program in `folder`: beside it, as built, or in ../lib/mmioscope/, as installed.
/// Throws Error (bad_input) if there is none.
std::filesystem::path find_hypervisor(const std::filesystem::path& folder, std::string_view board);

/// The folder of this program, with links resolved.
std::filesystem::path folder_of_this_program();

} // namespace mmioscope::run
