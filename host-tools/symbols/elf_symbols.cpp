#include "symbols/elf_symbols.hpp"

#include "system/error.hpp"

#include <gelf.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace mmioscope::symbols {

namespace {

constexpr std::size_t max_text = 256u << 20;

struct Ranked {
    unsigned rank; ///< the best is 0
    Symbol symbol;
};

unsigned rank_of(const GElf_Sym& symbol) {
    const unsigned bind = GELF_ST_BIND(symbol.st_info);
    return (GELF_ST_TYPE(symbol.st_info) == STT_FUNC ? 0 : 3) + (bind == STB_GLOBAL ? 0u
                                                                 : bind == STB_WEAK ? 1u
                                                                                    : 2u);
}

// As nm names them.
char type_of(const GElf_Sym& symbol, const ElfSections::Section& section) {
    const unsigned bind = GELF_ST_BIND(symbol.st_info);
    const char type = bind == STB_WEAK ? 'W' : section.code ? 'T' : 'D';
    return bind == STB_LOCAL ? static_cast<char>(type + ('a' - 'A')) : type;
}

std::uint32_t address_of(const GElf_Sym& symbol, const ElfSections::Section& section,
                         bool relocatable) {
    const bool thumb = GELF_ST_TYPE(symbol.st_info) == STT_FUNC;
    const auto value = static_cast<std::uint32_t>(symbol.st_value) & (thumb ? ~1u : ~0u);
    return relocatable ? *section.address + value : value;
}

class Collector {
public:
    Collector(Elf* elf, const ElfSections& sections) : elf_(elf), sections_(sections) {}

    void add_table(Elf_Scn* scn) {
        GElf_Shdr header{};
        Elf_Data* data = elf_getdata(scn, nullptr);
        if (gelf_getshdr(scn, &header) == nullptr || header.sh_type != SHT_SYMTAB ||
            data == nullptr) {
            return;
        }
        GElf_Sym symbol{};
        for (int i = 0; gelf_getsym(data, i, &symbol) != nullptr; ++i) {
            add(symbol, elf_strptr(elf_, header.sh_link, symbol.st_name));
        }
    }

    SymbolList sorted() {
        std::stable_sort(all_.begin(), all_.end(), [](const Ranked& left, const Ranked& right) {
            return std::pair(left.symbol.address, left.rank) <
                   std::pair(right.symbol.address, right.rank);
        });
        SymbolList symbols;
        for (Ranked& ranked : all_) {
            symbols.push_back(std::move(ranked.symbol));
        }
        return symbols;
    }

private:
    void add(const GElf_Sym& symbol, const char* name) {
        const unsigned type = GELF_ST_TYPE(symbol.st_info);
        const ElfSections::Section* section = sections_.by_index(symbol.st_shndx);
        if (name == nullptr || *name == 0 || section == nullptr || !section->address ||
            type == STT_SECTION || type == STT_FILE) {
            return;
        }
        const std::size_t size = ::strnlen(name, max_name);
        text_ += size;
        if (text_ > max_text) {
            throw bad_input("its symbols have too long names");
        }
        all_.push_back({rank_of(symbol),
                        {address_of(symbol, *section, sections_.relocatable()),
                         type_of(symbol, *section),
                         std::string(name, size),
                         {}}});
    }

    Elf* elf_;
    const ElfSections& sections_;
    std::vector<Ranked> all_;
    std::size_t text_ = 0;
};

// Asked before any is read: many headers may say that they have the same table.
void check_count(Elf* elf) {
    std::uint64_t count = 0;
    for (Elf_Scn* scn = elf_nextscn(elf, nullptr); scn != nullptr; scn = elf_nextscn(elf, scn)) {
        GElf_Shdr header{};
        if (gelf_getshdr(scn, &header) != nullptr && header.sh_type == SHT_SYMTAB) {
            count += header.sh_size / sizeof(Elf32_Sym);
        }
    }
    if (count > max_symbols) {
        throw bad_input("it has more than {} symbols", max_symbols);
    }
}

} // namespace

SymbolList elf_symbols(Elf* elf, const ElfSections& sections) {
    check_count(elf);
    Collector collector(elf, sections);
    for (Elf_Scn* scn = elf_nextscn(elf, nullptr); scn != nullptr; scn = elf_nextscn(elf, scn)) {
        collector.add_table(scn);
    }
    return collector.sorted();
}

} // namespace mmioscope::symbols
