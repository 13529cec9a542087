// Files with names for the guest's code, as the user gives them.
//
// The content tells the kind of a file: an ELF file with symbols (vmlinux, or a module, whose .text
// is placed by FILE@ADDRESS, a list of modules or the trace), lines as in /proc/kallsyms or
// System.map, lines as in /proc/modules, or a kernel's image (vmlinuz, zImage, Image). All of them
// may be compressed.
#pragma once

#include "symbols/module_files.hpp"
#include "symbols/symbols.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace mmioscope::symbols {

/// Adds the files of `arguments`. Modules go to `unplaced` if neither the argument nor a list has
/// their address. Throws Error (bad_input) that names the file.
void add_files(Symbols& to, ModuleFiles& unplaced, std::span<const std::string> arguments);

using ElfFiles = std::vector<std::unique_ptr<ElfFile>>;

/// The symbols of all files; the ELF files go to `files`. Throws as section_of() does.
SymbolList symbols_of(std::span<const std::string> arguments, ElfFiles& files);

/// The section of a trace file with the symbols of all files; empty if there are none. Throws Error
/// (bad_input) that names the file; also for a module whose address is unknown.
std::vector<std::byte> section_of(std::span<const std::string> arguments);

} // namespace mmioscope::symbols
