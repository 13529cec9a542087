// The hypervisor as a U-Boot image.
#include "run/input.hpp"

#include "catch_2_or_3.hpp"
#include "system/error.hpp"

#include <arpa/inet.h>
#include <elf.h>
#include <zlib.h>

#include <cstring>

using namespace mmioscope;
using namespace mmioscope::run;
using Catch::Contains;

namespace {

/// Two segments, of 4 and 3 bytes, 16 bytes apart, and one without bytes in the file.
Bytes elf_of_two() {
    Bytes elf(256);
    Elf32_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS32;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_machine = EM_ARM;
    header.e_phentsize = sizeof(Elf32_Phdr);
    header.e_phoff = sizeof header;
    header.e_phnum = 3;
    header.e_entry = 0x4800'0010;
    std::memcpy(elf.data(), &header, sizeof header);
    Elf32_Phdr segments[3]{};
    segments[0] = {PT_LOAD, 200, 0x4800'0010, 0x4800'0010, 3, 3, 0, 0};
    segments[1] = {PT_LOAD, 192, 0x4800'0000, 0x4800'0000, 4, 4, 0, 0};
    segments[2] = {PT_LOAD, 0, 0x6000'0000, 0x6000'0000, 0, 4096, 0, 0};
    std::memcpy(elf.data() + sizeof header, segments, sizeof segments);
    std::memcpy(elf.data() + 192, "text....data", 12);
    return elf;
}

std::uint32_t word(const Bytes& bytes, std::size_t at) {
    std::uint32_t value = 0;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return ntohl(value);
}

std::uint32_t crc_of(const std::byte* bytes, std::size_t size) {
    return static_cast<std::uint32_t>(
        ::crc32(0, reinterpret_cast<const Bytef*>(bytes), static_cast<uInt>(size)));
}

} // namespace

TEST_CASE("a U-Boot image has the segments at their places, and both checksums") {
    Bytes image = boot_image(elf_of_two(), "hyp.elf");
    REQUIRE(image.size() == 64 + 16 + 3);
    CHECK(word(image, 0) == 0x2705'1956);
    CHECK(word(image, 12) == 16 + 3);
    CHECK(word(image, 16) == 0x4800'0000);
    CHECK(word(image, 20) == 0x4800'0010);
    CHECK(word(image, 24) == crc_of(image.data() + 64, 19));
    CHECK(word(image, 28) == 0x0502'0200); // Linux, ARM, kernel, not compressed
    CHECK(std::memcmp(image.data() + 64, "text\0\0\0\0\0\0\0\0\0\0\0\0dat", 19) == 0);
    const std::uint32_t header_crc = word(image, 4);
    std::memset(image.data() + 4, 0, 4);
    CHECK(header_crc == crc_of(image.data(), 64));
}

TEST_CASE("a truncated hypervisor makes no image") {
    Bytes elf = elf_of_two();
    elf.resize(201);
    CHECK_THROWS_WITH(boot_image(elf, "hyp.elf"), Contains("hyp.elf is truncated"));
    elf.resize(sizeof(Elf32_Ehdr) + 8);
    CHECK_THROWS_WITH(boot_image(elf, "hyp.elf"), Contains("hyp.elf is truncated"));
    Elf32_Half none = 0;
    std::memcpy(elf.data() + offsetof(Elf32_Ehdr, e_phnum), &none, sizeof none);
    CHECK_THROWS_WITH(boot_image(elf, "hyp.elf"), Contains("has no segments"));
}
