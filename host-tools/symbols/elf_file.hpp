// An ELF file with symbols, and with lines of source code if it has DWARF: vmlinux or a module.
#pragma once

#include "mmioscope/event.hpp"
#include "symbols/symbols.hpp"
#include "system/file_descriptor.hpp"

#include <elfutils/libdwfl.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mmioscope::symbols {

// Lines of source code from DWARF.

class DwarfLines {
public:
    /// Lines of `elf`, whose sections must have their addresses in memory.
    explicit DwarfLines(Elf* elf);

    /// The line at `address`, and the lines that inlined it, innermost first; empty without DWARF
    /// for it.
    std::vector<SourceLine> at(Dwarf_Addr address) const;

private:
    struct End {
        void operator()(Dwfl* dwfl) const { dwfl_end(dwfl); }
    };

    std::unique_ptr<Dwfl, End> dwfl_;
    Dwfl_Module* file_ = nullptr;
};

class ElfFile : public Source {
public:
    /// Throws Error (bad_input), without the file's name, if this is not a 32-bit ARM ELF file.
    explicit ElfFile(const FileDescriptor& file);

    /// A relocatable file is a module: its addresses are offsets until it is loaded.
    bool relocatable() const { return relocatable_; }

    /// Its code was loaded at `base`, as module `name`. Call it once, before all functions below.
    void place(std::uint32_t base, const std::string& name);

    /// The symbols in memory, by address. At one address a function precedes others, and global
    /// symbols precede weak and then local ones. A symbol without a name marks the end of a
    /// section's code. Throws Error (bad_input) if there are too many for any kernel.
    SymbolList symbols() const;
    /// The instruction at `address`, as the file has it; nothing: its code is elsewhere.
    std::optional<std::uint32_t> word(std::uint32_t address) const;

    bool locate(std::uint32_t address, Location& to) override;
    void each_function(const VisitName& visit) override;

private:
    struct End {
        void operator()(Elf* elf) const { elf_end(elf); }
    };

    FunctionTable& functions();

    FileDescriptor file_;
    std::unique_ptr<Elf, End> elf_;
    bool relocatable_ = false;
    std::string module_;
    std::optional<FunctionTable> functions_; ///< made when asked for
    std::optional<DwarfLines> lines_;        ///< made at the first lookup
};

} // namespace mmioscope::symbols
