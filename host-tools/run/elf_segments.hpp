// What of an ARM ELF file goes into memory.
#pragma once

#include "run/input.hpp"

#include <elf.h>

#include <string>
#include <vector>

namespace mmioscope::run {

bool is_elf(const Bytes& bytes);

/// The file's header. Throws Error (bad_input) that calls the file `what`, unless it begins like a
/// 32-bit little-endian ARM file.
Elf32_Ehdr elf_header(const Bytes& elf, const std::string& what);

/// Its segments of type PT_LOAD that are not empty in memory, at most 65,535. Throws Error
/// (bad_input) that calls the file `what`, if their bytes are not all in it.
std::vector<Elf32_Phdr> load_segments(const Bytes& elf, const std::string& what);

} // namespace mmioscope::run
