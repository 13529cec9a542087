#include "symbols/elf_file.hpp"

#include "symbols/dwarf_lines.hpp"
#include "symbols/elf_symbols.hpp"
#include "system/error.hpp"

#include <gelf.h>
#include <unistd.h>

namespace mmioscope::symbols {

namespace {

/// Where libdw lays out what has no addresses yet. Not 0: that would mean none.
constexpr GElf_Addr any_base = 0x1000;

// Nothing is looked for but in the file that was given.
int no_elf(Dwfl_Module*, void**, const char*, Dwarf_Addr, char**, Elf**) {
    return -1;
}
int no_debug_file(Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*, const char*,
                  GElf_Word, char**) {
    return -1;
}

constexpr Dwfl_Callbacks callbacks{no_elf, no_debug_file, dwfl_offline_section_address, nullptr};

bool is_arm(Elf* elf) {
    GElf_Ehdr header{};
    return elf != nullptr && gelf_getehdr(elf, &header) != nullptr && header.e_machine == EM_ARM &&
           header.e_ident[EI_CLASS] == ELFCLASS32 && header.e_ident[EI_DATA] == ELFDATA2LSB;
}

bool is_relocatable(int fd) {
    Elf32_Ehdr header{};
    return ::pread(fd, &header, sizeof header, 0) == sizeof header && header.e_type == ET_REL;
}

} // namespace

ElfFile::ElfFile(const FileDescriptor& file) : dwfl_(dwfl_begin(&callbacks)) {
    const GElf_Addr base = is_relocatable(file.get()) ? any_base : 0;
    dwfl_report_begin(dwfl_.get());
    const int copy = ::dup(file.get()); // libdw closes it, unless it fails
    file_ = dwfl_report_elf(dwfl_.get(), "", "", copy, base, true);
    if (file_ == nullptr) {
        ::close(copy);
        throw bad_input("cannot be read as an ELF file: {}", dwfl_errmsg(-1));
    }
    dwfl_report_end(dwfl_.get(), nullptr, nullptr);
    GElf_Addr bias = 0;
    elf_ = dwfl_module_getelf(file_, &bias);
    if (!is_arm(elf_)) {
        throw bad_input("is no ELF file of 32-bit ARM, little endian");
    }
    sections_ = ElfSections(elf_);
}

ElfFile::~ElfFile() = default;

void ElfFile::place(std::uint32_t base, const std::string& name) {
    sections_.place_module(base);
    module_ = name;
}

SymbolList ElfFile::symbols() const {
    SymbolList symbols = elf_symbols(elf_, sections_);
    for (Symbol& symbol : symbols) {
        symbol.module = module_;
    }
    return symbols;
}

bool ElfFile::locate(std::uint32_t address, Location& to) {
    if (!functions_) {
        functions_.emplace(symbols());
    }
    const ElfSections::Section* section = sections_.holding(address);
    if (section == nullptr || !functions_->locate(address, to)) {
        return false;
    }
    to.lines = dwarf_lines(file_, section->in_file + (address - *section->address));
    return true;
}

} // namespace mmioscope::symbols
