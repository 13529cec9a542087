// Files that name the guest's code, as a user gives them.
//
// A file is known by its content: an ELF file with symbols (vmlinux; a module, then FILE@ADDRESS
// says where its .text lies, or a list of modules or the trace does), lines as of /proc/kallsyms or
// System.map, lines as of /proc/modules, or a kernel's image (vmlinuz, zImage, Image). All of them
// may be compressed.
#pragma once

#include "symbols/module_files.hpp"
#include "symbols/symbols.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace mmioscope::symbols {

/// Adds what `arguments` name; to `unplaced` the modules of which neither the argument nor a list
/// says where they lie. Throws Error (bad_input) that names the file.
void add_files(Symbols& to, ModuleFiles& unplaced, std::span<const std::string> arguments);

/// The section of a trace file with the symbols of all of them; empty if there are none. Throws
/// Error (bad_input) that names the file; also if it is of a module that lies nobody knows where.
std::vector<std::byte> section_of(std::span<const std::string> arguments);

} // namespace mmioscope::symbols
