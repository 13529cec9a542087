// An ELF file with symbols, and lines of source code if it has DWARF: vmlinux, or a module.
#pragma once

#include "symbols/elf_sections.hpp"
#include "symbols/function_table.hpp"
#include "symbols/source.hpp"
#include "symbols/symbol.hpp"
#include "system/file_descriptor.hpp"

#include <elfutils/libdwfl.h>

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
    ~ElfFile() override;

    /// A relocatable file, so a module: its addresses are offsets until it is loaded.
    bool relocatable() const { return sections_.relocatable(); }

    /// It was loaded with its code at `base`, as module `name`. Once, before all below.
    void place(std::uint32_t base, const std::string& name);

    /// By address, the best of several at one address first.
    SymbolList symbols() const;

    bool locate(std::uint32_t address, Location& to) override;

private:
    struct End {
        void operator()(Dwfl* dwfl) const { dwfl_end(dwfl); }
    };

    std::unique_ptr<Dwfl, End> dwfl_;
    Dwfl_Module* file_ = nullptr;
    Elf* elf_ = nullptr;
    ElfSections sections_;
    std::string module_;
    std::optional<FunctionTable> functions_; ///< made with the first address
};

} // namespace mmioscope::symbols
