// ELF files as bare guests: where their segments go, where they begin, and what is wrong with
// hostile ones.
#include "../sim/random.hpp"
#include "run/input.hpp"
#include "system/error.hpp"
#include "trees.hpp"
#include "wires.hpp"

#include <elf.h>

#include <cstring>
#include <fstream>
#include <random>

using namespace mmioscope;
using namespace mmioscope::run;
using namespace mmioscope::test;
using Catch::Contains;

namespace {

/// A program of two segments, the second one with a bss, linked 0x4000'0000 above where it is
/// loaded.
struct Program {
    Elf32_Ehdr header{};
    std::vector<Elf32_Phdr> segments{
        {PT_LOAD, 512, 0xc030'0000, 0x8030'0000, 16, 16, PF_R | PF_X, 4},
        {PT_LOAD, 528, 0xc020'0000, 0x8020'0000, 8, 4096, PF_R | PF_W, 4},
        {PT_NOTE, 0, 0, 0, 0xffff'ffff, 1, 0, 0}};

    Program() {
        std::memcpy(header.e_ident, ELFMAG, SELFMAG);
        header.e_ident[EI_CLASS] = ELFCLASS32;
        header.e_ident[EI_DATA] = ELFDATA2LSB;
        header.e_type = ET_EXEC;
        header.e_machine = EM_ARM;
        header.e_entry = 0xc030'0005; // in Thumb state
        header.e_phoff = sizeof header;
        header.e_phentsize = sizeof(Elf32_Phdr);
        header.e_phnum = 3;
    }

    Bytes bytes() const {
        Bytes file(1024);
        std::memcpy(file.data(), &header, sizeof header);
        std::memcpy(file.data() + sizeof header, segments.data(),
                    segments.size() * sizeof(Elf32_Phdr));
        return file;
    }
};

GuestProgram read(const Bytes& file) {
    const Folder folder;
    Options options;
    options.bare = true;
    options.memory = 512u << 20;
    options.kernel = folder / "guest.elf";
    std::ofstream(options.kernel, std::ios::binary)
        .write(reinterpret_cast<const char*>(file.data()),
               static_cast<std::streamsize>(file.size()));
    return guest_program(options, find_board("vexpress-a15"), small_tree());
}

template <typename Edit>
std::string error(Edit edit) {
    Program program;
    edit(program);
    try {
        read(program.bytes());
    } catch (const Error& error) {
        CHECK(error.status() == Status::bad_input);
        CHECK_THAT(error.what(), !Contains("\n"));
        return error.what();
    }
    return "";
}

} // namespace

TEST_CASE("an ELF file's segments go to their physical addresses, and so does its entry") {
    const GuestProgram program = read(Program().bytes());
    REQUIRE(program.parts.size() == 2);
    CHECK(program.parts[0].address == 0x8020'0000);
    CHECK(program.parts[0].size == 4096);
    CHECK(program.parts[1].address == 0x8030'0000);
    CHECK(program.entry == 0x8030'0005u);
    CHECK(!program.load_at);
}

TEST_CASE("an ELF file that cannot be started is refused in one line") {
    using P = Program;
    CHECK_THAT(error([](P& p) { p.header.e_ident[EI_CLASS] = ELFCLASS64; }),
               Contains("is not a 32-bit little-endian ARM ELF file"));
    CHECK_THAT(error([](P& p) { p.header.e_ident[EI_DATA] = ELFDATA2MSB; }),
               Contains("is not a 32-bit little-endian ARM ELF file"));
    CHECK_THAT(error([](P& p) { p.header.e_machine = EM_386; }), Contains("ARM ELF file"));
    CHECK_THAT(error([](P& p) { p.header.e_type = ET_REL; }), Contains("(ET_EXEC)"));
    CHECK_THAT(error([](P& p) { p.header.e_phoff = 0xffff'fff0; }), Contains("is truncated"));
    CHECK_THAT(error([](P& p) { p.header.e_phnum = 0xffff; }), Contains("is truncated"));
    CHECK_THAT(error([](P& p) { p.header.e_phentsize = 16; }), Contains("headers of 16 bytes"));
    CHECK_THAT(error([](P& p) { p.header.e_phnum = 0; }), Contains("in none of its segments"));
    CHECK_THAT(error([](P& p) { p.header.e_entry = 0xc030'0010; }),
               Contains("in none of its segments"));
    CHECK_THAT(error([](P& p) { p.segments[0].p_offset = 0xffff'fff8; }), Contains("is truncated"));
    CHECK_THAT(error([](P& p) { p.segments[0].p_filesz = 17; }), Contains("more bytes than room"));
    CHECK_THAT(error([](P& p) { p.segments[1].p_memsz = 0xffff'ffff; }), Contains("overlaps"));
    CHECK_THAT(error([](P& p) { p.segments[1].p_paddr = 0x8030'000f; }), Contains("overlap"));
    CHECK_THAT(error([](P& p) { p.segments[1].p_paddr = 0x8800'0000; }),
               Contains("overlaps the hypervisor"));
    CHECK_THAT(error([](P& p) { p.segments[1].p_paddr = 0xffff'f800; }), Contains("is neither in"));
    CHECK_THAT(error([](P& p) { p.segments[1].p_paddr = 0x1000; }), Contains("is neither in"));
    CHECK(error([](P&) {}).empty());
}

TEST_CASE("random damage to an ELF file is refused or harmless") {
    std::mt19937 random(23);
    const Bytes good = Program().bytes();
    for (unsigned n = 0; n < sim::seeds(2000); ++n) {
        Bytes file = good;
        for (int i = 0; i < 3; ++i) {
            file[random() % 160] = static_cast<std::byte>(random());
        }
        file.resize(n % 4 == 0 ? 4 + random() % 1020 : file.size());
        try {
            for (const Module& part : read(file).parts) {
                CHECK((part.address + part.size <= 0x87e0'0000 || part.address >= 0x8c00'0000));
            }
        } catch (const Error& error) {
            CHECK(error.status() == Status::bad_input);
        }
    }
}
