// Finds the hypervisor's ELF file for a load address.
#pragma once

#include <cstdint>
#include <filesystem>

namespace mmioscope::run {

/// The file for load address `base`, and a program in `folder`: beside it, as built, or in
/// ../lib/mmioscope/, as installed. Throws Error (bad_input) if there is none.
std::filesystem::path find_hypervisor(const std::filesystem::path& folder, std::uint64_t base);

/// The folder of this program, with links resolved.
std::filesystem::path folder_of_this_program();

} // namespace mmioscope::run
