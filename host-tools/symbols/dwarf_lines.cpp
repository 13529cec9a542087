#include "symbols/dwarf_lines.hpp"

#include <dwarf.h>

#include <vector>

namespace mmioscope::symbols {

namespace {

// Gives libdwfl another reference to the open file, so it does not search for one.
int give_elf(Dwfl_Module*, void** elf, const char*, Dwarf_Addr, char**, Elf** to) {
    *to = elf_begin(-1, ELF_C_READ_MMAP_PRIVATE, static_cast<Elf*>(*elf));
    return -1;
}
int no_debug_file(Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*, const char*,
                  GElf_Word, char**) {
    return -1;
}

constexpr Dwfl_Callbacks callbacks{give_elf, no_debug_file, dwfl_offline_section_address, nullptr};

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
