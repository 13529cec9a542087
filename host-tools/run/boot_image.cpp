#include "run/boot_image.hpp"

#include "system/crc.hpp"
#include "system/error.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace mmioscope::run {

namespace {

/// All numbers big-endian.
struct Header {
    std::uint32_t magic;
    std::uint32_t header_crc; ///< computed with 0 here
    std::uint32_t time;
    std::uint32_t size; ///< of the data that follows
    std::uint32_t load_address;
    std::uint32_t entry;
    std::uint32_t data_crc;
    std::uint8_t system;
    std::uint8_t architecture;
    std::uint8_t type;
    std::uint8_t compression;
    char name[32];
};
static_assert(sizeof(Header) == 64);

constexpr std::uint32_t magic = 0x2705'1956;
constexpr std::uint8_t linux_like = 5;
constexpr std::uint8_t arm = 2;
constexpr std::uint8_t kernel = 2;

constexpr std::size_t largest = 16u << 20; // abi/layout.hpp: the trace area begins there

/// The segments in place, from the lowest address on, which is returned in `base`.
Bytes memory_of(const Bytes& elf, const std::string& what, std::uint32_t& base) {
    std::vector<Elf32_Phdr> parts = load_segments(elf, what);
    std::erase_if(parts, [](const Elf32_Phdr& part) { return part.p_filesz == 0; });
    std::uint64_t begin = UINT64_MAX;
    std::uint64_t end = 0;
    for (const Elf32_Phdr& part : parts) {
        begin = std::min<std::uint64_t>(begin, part.p_paddr);
        end = std::max<std::uint64_t>(end, std::uint64_t{part.p_paddr} + part.p_filesz);
    }
    if (parts.empty() || end - begin > largest) {
        throw bad_input("{} has no segments, or they are too large", what);
    }
    Bytes memory(static_cast<std::size_t>(end - begin));
    for (const Elf32_Phdr& part : parts) {
        std::memcpy(memory.data() + (part.p_paddr - begin), elf.data() + part.p_offset,
                    part.p_filesz);
    }
    base = static_cast<std::uint32_t>(begin);
    return memory;
}

} // namespace

Bytes boot_image(const Bytes& elf, const std::string& path) {
    std::uint32_t base = 0;
    const std::string what = "the hypervisor " + path;
    const Bytes memory = memory_of(elf, what, base);
    Header header{};
    header.magic = htonl(magic);
    header.size = htonl(static_cast<std::uint32_t>(memory.size()));
    header.load_address = htonl(base);
    header.entry = htonl(elf_header(elf, what).e_entry);
    header.data_crc = htonl(crc(memory));
    header.system = linux_like;
    header.architecture = arm;
    header.type = kernel;
    std::strncpy(header.name, "mmioscope", sizeof header.name - 1);
    header.header_crc = htonl(crc(std::as_bytes(std::span(&header, 1))));
    Bytes image(sizeof header + memory.size());
    std::memcpy(image.data(), &header, sizeof header);
    std::memcpy(image.data() + sizeof header, memory.data(), memory.size());
    return image;
}

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

namespace fs = std::filesystem;

fs::path find_hypervisor(const fs::path& folder, std::uint64_t base) {
    const std::string name = fmt::format("hyp-{:08x}.elf", base);
    const fs::path installed = folder.parent_path() / "lib/mmioscope";
    for (const fs::path& place : {folder, installed}) {
        std::error_code ignored;
        if (fs::exists(place / name, ignored)) {
            return place / name;
        }
    }
    throw bad_input("there is no {} in {} or {}: `make build/{}` makes it in the project's folder; "
                    "or give --hypervisor FILE",
                    name, folder.string(), installed.string(), name);
}

fs::path folder_of_this_program() {
    return fs::read_symlink("/proc/self/exe").parent_path();
}

} // namespace mmioscope::run
