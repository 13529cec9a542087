#include "symbols/dwarf_lines.hpp"

#include <dwarf.h>

#include <cstdlib>
#include <memory>
#include <span>

namespace mmioscope::symbols {

namespace {

struct Free {
    void operator()(Dwarf_Die* dies) const { std::free(dies); }
};

/// DIEs from libdw, which are the caller's to free.
class Scopes {
public:
    template <typename Get>
    explicit Scopes(Get get) {
        Dwarf_Die* dies = nullptr;
        const int count = get(&dies);
        dies_.reset(dies);
        count_ = count > 0 ? static_cast<std::size_t>(count) : 0;
    }
    std::span<Dwarf_Die> all() const { return {dies_.get(), count_}; }

private:
    std::unique_ptr<Dwarf_Die, Free> dies_;
    std::size_t count_ = 0;
};

// The CU that holds `address`. Without an index of addresses all of them are asked.
Dwarf_Die* unit_of(Dwfl_Module* file, Dwarf_Addr address, Dwarf_Addr& bias) {
    if (Dwarf_Die* unit = dwfl_module_addrdie(file, address, &bias)) {
        return unit;
    }
    for (Dwarf_Die* unit = dwfl_module_nextcu(file, nullptr, &bias); unit != nullptr;
         unit = dwfl_module_nextcu(file, unit, &bias)) {
        if (dwarf_haspc(unit, address - bias) > 0) {
            return unit;
        }
    }
    return nullptr;
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

// Where the function that `inlined` stands for was called.
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

std::vector<SourceLine> dwarf_lines(Dwfl_Module* file, Dwarf_Addr address) {
    Dwarf_Addr bias = 0;
    Dwarf_Die* unit = unit_of(file, address, bias);
    if (unit == nullptr) {
        return {};
    }
    // The first chain goes on where the innermost function was written, the second where it is
    // called.
    const Scopes written(
        [&](Dwarf_Die** dies) { return dwarf_getscopes(unit, address - bias, dies); });
    if (written.all().empty()) {
        return {};
    }
    const Scopes called(
        [&](Dwarf_Die** dies) { return dwarf_getscopes_die(&written.all().front(), dies); });
    std::vector<SourceLine> lines;
    SourceLine line = line_at(unit, address - bias);
    for (Dwarf_Die& scope : called.all()) {
        const int tag = dwarf_tag(&scope);
        if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram) {
            continue;
        }
        line.function = text_or_empty(dwarf_diename(&scope));
        lines.push_back(line);
        if (tag == DW_TAG_subprogram) {
            break;
        }
        line = call_of(unit, &scope);
    }
    return lines;
}

} // namespace mmioscope::symbols
