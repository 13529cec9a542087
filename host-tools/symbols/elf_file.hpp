// An ELF file with symbols, and lines of source code if it has DWARF: vmlinux, or a module.
#pragma once

#include "symbols/dwarf_lines.hpp"
#include "symbols/function_table.hpp"
#include "symbols/source.hpp"
#include "symbols/symbol.hpp"
#include "system/file_descriptor.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace mmioscope::symbols {

class ElfFile : public Source {
public:
    /// Throws Error (bad_input), which does not name the file, if this is no ELF file of 32-bit
    /// ARM.
    explicit ElfFile(const FileDescriptor& file);

    /// A relocatable file, so a module: its addresses are offsets until it is loaded.
    bool relocatable() const { return relocatable_; }

    /// It was loaded with its code at `base`, as module `name`. Once, before all below.
    void place(std::uint32_t base, const std::string& name);

    /// Those in memory, by address; of those at one address a function before others, a global one
    /// before a weak one, and that before a local one. Where a section's code ends is one without a
    /// name. Throws Error (bad_input) if they are too much for any kernel.
    SymbolList symbols() const;

    bool locate(std::uint32_t address, Location& to) override;

private:
    struct End {
        void operator()(Elf* elf) const { elf_end(elf); }
    };

    FileDescriptor file_;
    std::unique_ptr<Elf, End> elf_;
    bool relocatable_ = false;
    std::string module_;
    std::optional<FunctionTable> functions_; ///< made with the first address
    std::optional<DwarfLines> lines_;        ///< likewise
};

} // namespace mmioscope::symbols
