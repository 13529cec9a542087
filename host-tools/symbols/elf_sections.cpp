#include "symbols/elf_sections.hpp"

#include <gelf.h>

#include <algorithm>

namespace mmioscope::symbols {

ElfSections::ElfSections(Elf* elf) {
    GElf_Ehdr header{};
    std::size_t names = 0;
    if (gelf_getehdr(elf, &header) == nullptr || elf_getshdrstrndx(elf, &names) != 0) {
        return;
    }
    relocatable_ = header.e_type == ET_REL;
    for (Elf_Scn* scn = elf_nextscn(elf, nullptr); scn != nullptr; scn = elf_nextscn(elf, scn)) {
        GElf_Shdr section{};
        if (gelf_getshdr(scn, &section) == nullptr || (section.sh_flags & SHF_ALLOC) == 0) {
            continue;
        }
        const char* name = elf_strptr(elf, names, section.sh_name);
        const auto address = static_cast<std::uint32_t>(section.sh_addr);
        sections_.push_back({elf_ndxscn(scn), name == nullptr ? "" : name, address,
                             static_cast<std::uint32_t>(section.sh_size),
                             static_cast<std::uint32_t>(section.sh_addralign),
                             (section.sh_flags & SHF_EXECINSTR) != 0,
                             relocatable_ ? std::nullopt : std::optional(address)});
    }
}

void ElfSections::place_module(std::uint32_t base) {
    std::uint32_t at = base;
    for (Section& section : sections_) {
        if (section.code && !section.name.starts_with(".init")) {
            const std::uint32_t alignment = std::max(section.alignment, 1u);
            at += (alignment - at % alignment) % alignment;
            section.address = at;
            at += section.size;
        }
    }
}

const ElfSections::Section* ElfSections::by_index(std::size_t index) const {
    const auto found = std::find_if(sections_.begin(), sections_.end(),
                                    [index](const Section& s) { return s.index == index; });
    return found == sections_.end() ? nullptr : &*found;
}

const ElfSections::Section* ElfSections::holding(std::uint32_t address) const {
    const auto found =
        std::find_if(sections_.begin(), sections_.end(), [address](const Section& s) {
            return s.code && s.address && address - *s.address < s.size;
        });
    return found == sections_.end() ? nullptr : &*found;
}

} // namespace mmioscope::symbols
