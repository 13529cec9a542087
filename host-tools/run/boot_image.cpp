#include "run/boot_image.hpp"

#include "system/crc.hpp"
#include "system/error.hpp"

#include <arpa/inet.h>
#include <elf.h>

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

Elf32_Ehdr elf_header(const Bytes& elf) {
    Elf32_Ehdr header;
    std::memcpy(&header, elf.data(), sizeof header);
    return header;
}

std::vector<Elf32_Phdr> segments(const Bytes& elf, const std::string& path) {
    const Elf32_Ehdr header = elf_header(elf);
    std::vector<Elf32_Phdr> found;
    for (std::size_t i = 0; i < header.e_phnum; ++i) {
        Elf32_Phdr segment;
        const std::size_t at = header.e_phoff + i * sizeof segment;
        if (at + sizeof segment > elf.size()) {
            throw bad_input("the hypervisor {} is truncated", path);
        }
        std::memcpy(&segment, elf.data() + at, sizeof segment);
        if (segment.p_type != PT_LOAD || segment.p_filesz == 0) {
            continue;
        }
        if (std::uint64_t{segment.p_offset} + segment.p_filesz > elf.size()) {
            throw bad_input("the hypervisor {} is truncated", path);
        }
        found.push_back(segment);
    }
    return found;
}

/// The segments in place, from the lowest address on, which is returned in `base`.
Bytes memory_of(const Bytes& elf, const std::string& path, std::uint32_t& base) {
    const std::vector<Elf32_Phdr> parts = segments(elf, path);
    std::uint64_t begin = UINT64_MAX;
    std::uint64_t end = 0;
    for (const Elf32_Phdr& part : parts) {
        begin = std::min<std::uint64_t>(begin, part.p_paddr);
        end = std::max<std::uint64_t>(end, std::uint64_t{part.p_paddr} + part.p_filesz);
    }
    if (parts.empty() || end - begin > largest) {
        throw bad_input("the hypervisor {} has no segments, or they are too large", path);
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
    const Bytes memory = memory_of(elf, path, base);
    Header header{};
    header.magic = htonl(magic);
    header.size = htonl(static_cast<std::uint32_t>(memory.size()));
    header.load_address = htonl(base);
    header.entry = htonl(elf_header(elf).e_entry);
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

} // namespace mmioscope::run
