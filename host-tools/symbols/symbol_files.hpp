// Files that name the guest's code, as a user gives them.
//
// A file is known by its content: an ELF file with symbols (vmlinux; a module, then FILE@ADDRESS
// says where its .text lies, or a list of modules or the trace does), lines as of /proc/kallsyms or
// System.map, lines as of /proc/modules, or a kernel's image (vmlinuz, zImage, Image). All of them
// may be compressed.
#pragma once

#include "symbols/symbols.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace mmioscope::symbols {

/// Adds what `arguments` name. `modules`: where modules lie, as far as that is known already.
/// Throws Error (bad_input) that names the file.
void add_files(Symbols& to, std::span<const std::string> arguments,
               std::span<const ModuleSpan> modules = {});

/// The section of a trace file with the symbols of all of them; empty if there are none. Throws
/// Error (bad_input) that names the file.
std::vector<std::byte> section_of(std::span<const std::string> arguments);

} // namespace mmioscope::symbols
