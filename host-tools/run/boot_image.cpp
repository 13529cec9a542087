#include "run/boot_image.hpp"

#include "run/elf_segments.hpp"
#include "system/crc.hpp"
#include "system/error.hpp"

#include <algorithm>
#include <arpa/inet.h>
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

} // namespace mmioscope::run
