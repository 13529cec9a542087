#include "run/elf_segments.hpp"

#include "system/error.hpp"

#include <cstring>

namespace mmioscope::run {

bool is_elf(const Bytes& bytes) {
    return bytes.size() >= SELFMAG && std::memcmp(bytes.data(), ELFMAG, SELFMAG) == 0;
}

Elf32_Ehdr elf_header(const Bytes& elf, const std::string& what) {
    Elf32_Ehdr header{};
    if (elf.size() >= sizeof header) {
        std::memcpy(&header, elf.data(), sizeof header);
    }
    if (!is_elf(elf) || header.e_ident[EI_CLASS] != ELFCLASS32 ||
        header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_machine != EM_ARM) {
        throw bad_input("{} is not a 32-bit little-endian ARM ELF file", what);
    }
    return header;
}

std::vector<Elf32_Phdr> load_segments(const Bytes& elf, const std::string& what) {
    const Elf32_Ehdr header = elf_header(elf, what);
    std::vector<Elf32_Phdr> found;
    if (header.e_phnum > 0 && header.e_phentsize != sizeof(Elf32_Phdr)) {
        throw bad_input("{} has program headers of {} bytes, not {}", what, header.e_phentsize,
                        sizeof(Elf32_Phdr));
    }
    for (std::size_t i = 0; i < header.e_phnum; ++i) {
        Elf32_Phdr segment;
        const std::size_t at = header.e_phoff + i * sizeof segment;
        if (at + sizeof segment > elf.size()) {
            throw bad_input("{} is truncated: its program headers are not in it", what);
        }
        std::memcpy(&segment, elf.data() + at, sizeof segment);
        if (segment.p_type != PT_LOAD || segment.p_memsz == 0) {
            continue;
        }
        if (std::uint64_t{segment.p_offset} + segment.p_filesz > elf.size()) {
            throw bad_input("{} is truncated: not all bytes of its segments are in it", what);
        }
        if (segment.p_filesz > segment.p_memsz) {
            throw bad_input("{} is damaged: a segment has more bytes than room", what);
        }
        found.push_back(segment);
    }
    return found;
}

} // namespace mmioscope::run
