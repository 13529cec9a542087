// ELF files of modules whose addresses come from the trace.
#pragma once

#include "mmioscope/event.hpp"
#include "symbols/elf_file.hpp"
#include "symbols/symbols.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mmioscope::symbols {

class ModuleFiles {
public:
    /// Adds `elf`, which must be relocatable and not placed. The first file of a module counts.
    void add(const std::string& module, std::unique_ptr<ElfFile> elf);

    /// Finds the function at `offset` from the base of `module`. False if there is no file for it,
    /// or no function.
    bool locate(const std::string& module, std::uint32_t offset, Location& to);

    /// Calls `visit` with the name of each function in a file.
    void each_function(const VisitName& visit);

    /// Those with a file.
    std::vector<std::string> modules() const;

private:
    std::map<std::string, std::unique_ptr<ElfFile>> files_;
};

// Addresses of the guest's kernel modules, from /proc/modules.

/// Parses lines of `name size references users state address`. Throws Error (bad_input) that names
/// the line, not the file; also if the kernel hid the addresses.
std::vector<ModuleSpan> read_modules(std::string_view text);

} // namespace mmioscope::symbols
