// The hypervisor as a U-Boot image (U-Boot's include/image.h, "legacy"). QEMU starts it like
// U-Boot, in Hyp mode with PSCI firmware below; it would start an ELF file in Secure state, without
// firmware.
#pragma once

#include "run/input.hpp"

#include <elf.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace mmioscope::run {

/// The image of `elf`, Throws Error (bad_input) that
/// names `path` if its segments are outside the file or too far apart.
Bytes boot_image(const Bytes& elf, const std::string& path);

// What of an ARM ELF file goes into memory.

bool is_elf(const Bytes& bytes);

/// The file's header. Throws Error (bad_input) that calls the file `what`, unless it begins like a
/// 32-bit little-endian ARM file.
Elf32_Ehdr elf_header(const Bytes& elf, const std::string& what);

/// Its segments of type PT_LOAD that are not empty in memory, at most 65,535. Throws Error
/// (bad_input) that calls the file `what`, if their bytes are not all in it.
std::vector<Elf32_Phdr> load_segments(const Bytes& elf, const std::string& what);

// Finds the hypervisor's ELF file for a load address.

/// The file for load address `base`, and a program in `folder`: beside it, as built, or in
/// ../lib/mmioscope/, as installed. Throws Error (bad_input) if there is none.
std::filesystem::path find_hypervisor(const std::filesystem::path& folder, std::uint64_t base);

/// The folder of this program, with links resolved.
std::filesystem::path folder_of_this_program();

} // namespace mmioscope::run
