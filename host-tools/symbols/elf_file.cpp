#include "symbols/elf_file.hpp"

#include "system/error.hpp"

#include <dwarf.h>
#include <gelf.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace mmioscope::symbols {

namespace {

constexpr std::size_t max_text = 256u << 20; ///< limit for all names

bool is_code(const GElf_Shdr& section) {
    constexpr GElf_Xword code = SHF_ALLOC | SHF_EXECINSTR;
    return (section.sh_flags & code) == code;
}

template <typename Do>
void for_each_section(Elf* elf, Do action) {
    for (Elf_Scn* scn = elf_nextscn(elf, nullptr); scn != nullptr; scn = elf_nextscn(elf, scn)) {
        if (GElf_Shdr section{}; gelf_getshdr(scn, &section) != nullptr) {
            action(scn, section);
        }
    }
}

unsigned rank_of(const GElf_Sym& symbol) {
    const unsigned bind = GELF_ST_BIND(symbol.st_info);
    return (GELF_ST_TYPE(symbol.st_info) == STT_FUNC ? 0 : 3) + (bind == STB_GLOBAL ? 0u
                                                                 : bind == STB_WEAK ? 1u
                                                                                    : 2u);
}

// As in nm.
char type_of(const GElf_Sym& symbol, const GElf_Shdr& section) {
    const unsigned bind = GELF_ST_BIND(symbol.st_info);
    const char type = bind == STB_WEAK   ? (is_code(section) ? 'W' : 'V')
                      : is_code(section) ? 'T'
                                         : 'D';
    return bind == STB_LOCAL ? static_cast<char>(type + ('a' - 'A')) : type;
}

} // namespace

ElfFile::ElfFile(const FileDescriptor& file) : file_(::dup(file.get())) {
    elf_version(EV_CURRENT);
    elf_.reset(elf_begin(file_.get(), ELF_C_READ_MMAP_PRIVATE, nullptr));
    GElf_Ehdr header{};
    if (gelf_getehdr(elf_.get(), &header) == nullptr || header.e_machine != EM_ARM ||
        header.e_ident[EI_CLASS] != ELFCLASS32 || header.e_ident[EI_DATA] != ELFDATA2LSB) {
        throw bad_input("is not a little-endian 32-bit ARM ELF file");
    }
    relocatable_ = header.e_type == ET_REL;
}

// Places sections like Linux (kernel/module/main.c, layout_sections): code first, in the order of
// the file, without the init part. The addresses go into the section headers, where libdwfl finds
// them; other sections become unallocated.
void ElfFile::place(std::uint32_t base, const std::string& name) {
    module_ = name;
    std::size_t names = 0;
    elf_getshdrstrndx(elf_.get(), &names);
    for_each_section(elf_.get(), [&](Elf_Scn* scn, GElf_Shdr& section) {
        const char* const its_name = elf_strptr(elf_.get(), names, section.sh_name);
        if (is_code(section) && (its_name == nullptr || std::strncmp(its_name, ".init", 5) != 0)) {
            const auto alignment = std::max(static_cast<std::uint32_t>(section.sh_addralign), 1u);
            base += (alignment - base % alignment) % alignment;
            section.sh_addr = base;
            base += static_cast<std::uint32_t>(section.sh_size);
        } else {
            section.sh_flags &= ~GElf_Xword{SHF_ALLOC};
        }
        gelf_update_shdr(scn, &section);
    });
}

std::optional<std::uint32_t> ElfFile::word(std::uint32_t address) const {
    std::optional<std::uint32_t> found;
    for_each_section(elf_.get(), [&](Elf_Scn* scn, const GElf_Shdr& section) {
        const std::uint64_t at = address - section.sh_addr;
        const Elf_Data* const data = is_code(section) ? elf_getdata(scn, nullptr) : nullptr;
        if (data != nullptr && data->d_buf != nullptr && at < data->d_size &&
            data->d_size - at >= 4) {
            std::memcpy(&found.emplace(), static_cast<const char*>(data->d_buf) + at, 4);
        }
    });
    return found;
}

// Uses libelf, because libdwfl returns names without checking where they end, data of ARM only at
// even addresses, and expands .gnu_debugdata without limit.
SymbolList ElfFile::symbols() const {
    std::vector<std::pair<unsigned, Symbol>> ranked;
    Elf_Scn* table = nullptr;
    GElf_Shdr header{};
    for_each_section(elf_.get(), [&](Elf_Scn* scn, const GElf_Shdr& section) {
        if (is_code(section)) {
            const auto end = static_cast<std::uint32_t>(section.sh_addr + section.sh_size);
            ranked.push_back({0, {end, 'D', "", module_}});
        }
        if (section.sh_type == SHT_SYMTAB && table == nullptr) { // there is at most one
            table = scn;
            header = section;
        }
    });
    if (header.sh_size / sizeof(Elf32_Sym) > max_symbols) {
        throw bad_input("it has more than {} symbols", max_symbols);
    }
    Elf_Data* const data = elf_getdata(table, nullptr);
    std::size_t text = 0;
    GElf_Sym symbol{};
    for (int i = 0; gelf_getsym(data, i, &symbol) != nullptr; ++i) {
        const unsigned type = GELF_ST_TYPE(symbol.st_info);
        const char* const name = elf_strptr(elf_.get(), header.sh_link, symbol.st_name);
        GElf_Shdr section{};
        if (name == nullptr || *name == 0 || type == STT_SECTION || type == STT_FILE ||
            gelf_getshdr(elf_getscn(elf_.get(), symbol.st_shndx), &section) == nullptr ||
            (section.sh_flags & SHF_ALLOC) == 0) {
            continue;
        }
        const std::size_t size = ::strnlen(name, max_name);
        text += size;
        if (text > max_text) {
            throw bad_input("the names of its symbols are too long");
        }
        const auto value = static_cast<std::uint32_t>(symbol.st_value);
        const std::uint32_t address =
            (relocatable_ ? static_cast<std::uint32_t>(section.sh_addr) : 0) +
            (type == STT_FUNC ? value & ~1u : value); // odd for Thumb
        ranked.push_back({rank_of(symbol),
                          {address, type_of(symbol, section), std::string(name, size), module_}});
    }
    std::ranges::stable_sort(
        ranked, {}, [](const auto& each) { return std::pair(each.second.address, each.first); });
    SymbolList symbols;
    for (auto& [rank, each] : ranked) {
        symbols.push_back(std::move(each));
    }
    return symbols;
}

FunctionTable& ElfFile::functions() {
    return functions_ ? *functions_ : functions_.emplace(symbols());
}

void ElfFile::each_function(const VisitName& visit) {
    functions().each_function(visit);
}

bool ElfFile::locate(std::uint32_t address, Location& to) {
    if (!functions().locate(address, to)) {
        return false;
    }
    if (!lines_) {
        lines_.emplace(elf_.get());
    }
    to.lines = lines_->at(address);
    if (to.lines.size() == 1 && to.lines[0].function.empty()) {
        to.lines[0].function = to.function;
    }
    return true;
}

namespace {

// Gives libdwfl another reference to the open file, so it does not search for one.
int set_elf(Dwfl_Module*, void** elf, const char*, Dwarf_Addr, char**, Elf** to) {
    *to = elf_begin(-1, ELF_C_READ_MMAP_PRIVATE, static_cast<Elf*>(*elf));
    return -1;
}
int no_debug_file(Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*, const char*,
                  GElf_Word, char**) {
    return -1;
}

constexpr Dwfl_Callbacks callbacks{set_elf, no_debug_file, dwfl_offline_section_address, nullptr};

bool is_code(Dwarf_Die* die) {
    return dwarf_tag(die) == DW_TAG_inlined_subroutine || dwarf_tag(die) == DW_TAG_subprogram;
}

// Adds the functions in `die` that contain `address`, the innermost first. dwarf_getscopes() looks
// for where an inlined function is written, in the same unit only: LTO inlines those of others.
void find_functions(Dwarf_Die* die, Dwarf_Addr address, std::vector<Dwarf_Die>& found,
                    unsigned depth = 0) {
    constexpr unsigned deepest = 100; // what compilers write is no deeper, but a file may be
    Dwarf_Die child;
    for (int end = depth < deepest ? dwarf_child(die, &child) : 1; end == 0 && found.empty();
         end = dwarf_siblingof(&child, &child)) {
        const bool holds = dwarf_haspc(&child, address) > 0;
        if (holds || dwarf_tag(&child) == DW_TAG_namespace) {
            find_functions(&child, address, found, depth + 1);
        }
        if (holds && is_code(&child)) {
            found.push_back(child);
        }
    }
}

// The CU that contains `address` of the file. Searches all if the index of addresses has none, or
// one that only surrounds it.
Dwarf_Die* unit_of(Dwfl_Module* file, Dwarf_Addr address) {
    Dwarf_Addr bias = 0;
    dwfl_module_getdwarf(file, &bias);
    Dwarf_Die* unit = dwfl_module_addrdie(file, address + bias, &bias);
    if (unit == nullptr || dwarf_haspc(unit, address) <= 0) {
        unit = nullptr;
        do {
            unit = dwfl_module_nextcu(file, unit, &bias);
        } while (unit != nullptr && dwarf_haspc(unit, address) <= 0);
    }
    return unit;
}

std::string text_or_empty(const char* text) {
    return text == nullptr ? "" : text;
}

unsigned number_of(Dwarf_Die* die, unsigned attribute) {
    Dwarf_Attribute value;
    Dwarf_Word number = 0;
    dwarf_formudata(dwarf_attr(die, attribute, &value), &number);
    return static_cast<unsigned>(number);
}

// Where the function of `inlined` was called.
SourceLine call_of(Dwarf_Die* unit, Dwarf_Die* inlined) {
    Dwarf_Files* files = nullptr;
    std::size_t count = 0;
    SourceLine line;
    if (dwarf_getsrcfiles(unit, &files, &count) == 0) {
        const unsigned file = number_of(inlined, DW_AT_call_file);
        line.file = file < count ? text_or_empty(dwarf_filesrc(files, file, nullptr, nullptr)) : "";
    }
    line.line = number_of(inlined, DW_AT_call_line);
    return line;
}

SourceLine line_at(Dwarf_Die* unit, Dwarf_Addr address) {
    SourceLine found;
    Dwarf_Line* line = dwarf_getsrc_die(unit, address);
    int number = 0;
    if (line != nullptr && dwarf_lineno(line, &number) == 0) {
        found.file = text_or_empty(dwarf_linesrc(line, nullptr, nullptr));
        found.line = static_cast<unsigned>(number);
    }
    return found;
}

} // namespace

DwarfLines::DwarfLines(Elf* elf) : dwfl_(dwfl_begin(&callbacks)) {
    dwfl_report_begin(dwfl_.get());
    file_ = dwfl_report_module(dwfl_.get(), "", 0, UINT32_MAX);
    dwfl_report_end(dwfl_.get(), nullptr, nullptr);
    void** to_callbacks = nullptr;
    dwfl_module_info(file_, &to_callbacks, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
    *to_callbacks = elf;
}

std::vector<SourceLine> DwarfLines::at(Dwarf_Addr address) const {
    Dwarf_Die* const unit = unit_of(file_, address);
    if (unit == nullptr) {
        return {};
    }
    SourceLine line = line_at(unit, address);
    std::vector<Dwarf_Die> functions;
    find_functions(unit, address, functions);
    if (functions.empty() && !line.file.empty()) {
        return {line}; // split DWARF: the functions are in another file
    }
    std::vector<SourceLine> lines;
    for (Dwarf_Die& function : functions) {
        line.function = text_or_empty(dwarf_diename(&function));
        lines.push_back(line);
        if (dwarf_tag(&function) == DW_TAG_subprogram) {
            break;
        }
        line = call_of(unit, &function);
    }
    return lines;
}

} // namespace mmioscope::symbols
