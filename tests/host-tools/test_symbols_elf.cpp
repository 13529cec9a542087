// Functions and lines of ELF files: compared with binutils' addr2line for each address.
#include "allocations.hpp"
#include "catch_2_or_3.hpp"
#include "symbols/elf_file.hpp"
#include "symbols/symbol_files.hpp"
#include "system/error.hpp"
#include "system/file_descriptor.hpp"

#include <elf.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>

using namespace mmioscope;

namespace {

constexpr char source[] = R"(
volatile unsigned device;

static inline __attribute__((always_inline)) void write_one(unsigned value) {
    device = value;
    device = value + 1;
}

static inline __attribute__((always_inline)) void write_two(unsigned value) {
    write_one(value);
    for (unsigned i = 0; i < value; ++i)
        write_one(device * i);
}

__attribute__((noinline)) void first(unsigned value) {
    write_two(value);
    device = 7;
}

__attribute__((noinline, target("thumb"))) unsigned second(unsigned value) {
    if (device > value)
        write_two(value);
    return device;
}

__attribute__((section(".init.text"))) void setup(void) { device = 1; }
void _start(void) { first(device); second(device); setup(); }
)";

/// A folder with an ARM program, or the object of a module.
class Built {
public:
    explicit Built(const char* options) {
        std::ofstream(folder_ / "drv.c") << source;
        run(fmt::format("arm-none-eabi-gcc -g -O2 -mcpu=cortex-a15 -nostdlib {} -o {} {}", options,
                        file(), (folder_ / "drv.c").string()));
    }
    ~Built() { std::filesystem::remove_all(folder_); }

    std::string file() const { return (folder_ / "drv.ko").string(); }
    std::filesystem::path folder() const { return folder_; }

    static std::string run(const std::string& command) {
        std::FILE* pipe = ::popen(command.c_str(), "r");
        std::string output;
        char buffer[4096];
        while (std::fgets(buffer, sizeof buffer, pipe) != nullptr) {
            output += buffer;
        }
        REQUIRE(::pclose(pipe) == 0);
        return output;
    }

private:
    static std::filesystem::path make_folder() {
        std::string name = std::filesystem::temp_directory_path() / "mmioscope-test-XXXXXX";
        REQUIRE(::mkdtemp(name.data()) != nullptr);
        return name;
    }

    std::filesystem::path folder_ = make_folder();
};

// In the format of addr2line -f -i.
std::string lines_of(const Location& location) {
    std::string text;
    for (const SourceLine& line : location.lines) {
        text += fmt::format("{}\n{}:{}\n", line.function, line.file, line.line);
    }
    return text;
}

// addr2line adds discriminators to lines, and knows no size of a function.
std::string addr2line(const Built& built, const std::string& options, std::uint32_t address) {
    const std::string said = Built::run(fmt::format("arm-none-eabi-addr2line -f -i {} -e {} {:#x}",
                                                    options, built.file(), address));
    std::istringstream in(said);
    std::string text;
    for (std::string line; std::getline(in, line);) {
        text += line.substr(0, line.find(" (discriminator")) + "\n";
    }
    return text;
}

const symbols::Symbol& find(const symbols::SymbolList& all, const std::string& name) {
    for (const symbols::Symbol& symbol : all) {
        if (symbol.name == name) {
            return symbol;
        }
    }
    throw failure("no symbol {}", name);
}

/// A file with one table of `symbols`, and `tables` headers for it.
FileDescriptor with_shared_table(std::uint32_t symbols, std::uint16_t tables) {
    constexpr std::uint32_t names_at = sizeof(Elf32_Ehdr);
    constexpr std::uint32_t symbols_at = names_at + 4;
    const std::uint32_t size = symbols * static_cast<std::uint32_t>(sizeof(Elf32_Sym));
    Elf32_Ehdr header{};
    std::memcpy(header.e_ident, "\177ELF\1\1\1", 7);
    header.e_type = ET_REL;
    header.e_machine = EM_ARM;
    header.e_version = EV_CURRENT;
    header.e_shoff = symbols_at + size;
    header.e_ehsize = sizeof header;
    header.e_shentsize = sizeof(Elf32_Shdr);
    header.e_shnum = static_cast<std::uint16_t>(3 + tables);
    header.e_shstrndx = 1;
    Elf32_Sym symbol{};
    symbol.st_name = 1;
    symbol.st_info = ELF32_ST_INFO(STB_LOCAL, STT_FUNC);
    symbol.st_shndx = 2;
    const std::vector<Elf32_Sym> table(symbols, symbol);
    std::vector<Elf32_Shdr> headers(3);
    headers[1] = {0, SHT_STRTAB, 0, 0, names_at, 4, 0, 0, 1, 0};
    headers[2] = {0, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x8000, 0, 4, 0, 0, 4, 0};
    headers.resize(3u + tables,
                   {0, SHT_SYMTAB, 0, 0, symbols_at, size, 1, 0, 4, sizeof(Elf32_Sym)});
    FileDescriptor file = memory_file("elf", 0);
    const auto write = [&file](const void* bytes, std::size_t count) {
        REQUIRE(::write(file.get(), bytes, count) == static_cast<ssize_t>(count));
    };
    write(&header, sizeof header);
    write("\0a\0", 4);
    write(table.data(), size);
    write(headers.data(), headers.size() * sizeof(Elf32_Shdr));
    return file;
}

} // namespace

TEST_CASE("lines and inlined functions equal those of addr2line") {
    const Built built("-Wl,-Ttext=0xc0008000");
    symbols::ElfFile elf(open_input(built.file()));
    const symbols::SymbolList all = elf.symbols();
    std::size_t inlined = 0;
    for (const char* name : {"first", "second", "_start"}) {
        const std::uint32_t start = find(all, name).address;
        CHECK((start & 1) == 0);
        for (std::uint32_t offset = 0; offset < 0x30; offset += 4) {
            Location location;
            if (!elf.locate(start + offset, location) || location.function != name) {
                break;
            }
            CAPTURE(name, offset);
            CHECK(location.offset == offset);
            CHECK(location.module.empty());
            CHECK(lines_of(location) == addr2line(built, "", start + offset));
            inlined += location.lines.size() == 3 ? 1 : 0;
        }
    }
    CHECK(inlined > 4);
}

TEST_CASE("lines of LTO equal those of addr2line, and of split DWARF the innermost ones") {
    const Built whole("-Wl,-Ttext=0xc0008000");
    for (const std::string options : {"-flto", "-gsplit-dwarf", "-gsplit-dwarf -gdwarf-4"}) {
        const Built built(("-Wl,-Ttext=0xc0008000 " + options).c_str());
        symbols::ElfFile elf(open_input(built.file()));
        const std::uint32_t start = find(elf.symbols(), "_start").address;
        std::uint32_t offset = 0;
        for (Location location; elf.locate(start + offset, location) && offset < 0x40;
             offset += 8) {
            CAPTURE(options, offset);
            REQUIRE(!location.lines.empty());
            if (options == "-flto") {
                CHECK(lines_of(location) == addr2line(built, "", start + offset));
                continue;
            }
            // The functions are in another file, which addr2line may not find; the code is equal.
            const std::string said = addr2line(whole, "", start + offset);
            const SourceLine& line = location.lines.front();
            CHECK(line.function == location.function);
            CHECK_THAT(said.substr(said.find("/drv.c:")),
                       Catch::StartsWith(fmt::format("/drv.c:{}\n", line.line)));
        }
        CHECK(offset > 8);
    }
}

TEST_CASE("a module's functions and lines are at the address where it was loaded") {
    const Built built("-c");
    const std::vector<std::string> files{built.file() + "@0xbf012340"};
    symbols::Symbols names;
    symbols::ModuleFiles unplaced;
    symbols::add_files(names, unplaced, files);
    CHECK(unplaced.modules().empty());
    std::size_t found = 0;
    for (std::uint32_t offset = 0; offset < 0x60; offset += 4) {
        Location location;
        REQUIRE(names.locate(0xbf01'2340 + offset, location));
        CAPTURE(offset);
        CHECK(location.module == "drv");
        CHECK(lines_of(location) == addr2line(built, "-j .text", offset));
        ++found;
    }
    CHECK(found == 0x18);
    Location none;
    CHECK(!names.locate(0xbf01'233c, none));
    for (std::uint32_t offset = 0; offset < 0x1000; offset += 4) {
        Location location;
        names.locate(0xbf01'2340 + offset, location);
        CHECK(location.function != "setup"); // freed when it runs
    }
}

TEST_CASE("a module's file is kept until the module's address is known") {
    const Built built("-c");
    symbols::Symbols names;
    symbols::ModuleFiles unplaced;
    symbols::add_files(names, unplaced, std::vector{built.file()});
    CHECK(unplaced.modules() == std::vector<std::string>{"drv"});
    for (std::uint32_t offset = 0; offset < 0x60; offset += 4) {
        Location location;
        CAPTURE(offset);
        REQUIRE(unplaced.locate("drv", offset, location));
        CHECK(location.module == "drv");
        CHECK(lines_of(location) == addr2line(built, "-j .text", offset));
    }
    Location location;
    CHECK(!unplaced.locate("drv", 0x1000, location));
    CHECK(!unplaced.locate("other", 0, location));
}

TEST_CASE("files of symbols are recognized by their content, and can be combined") {
    const Built built("-c");
    const auto write = [&](const char* name, const std::string& text) {
        const std::string path = built.folder() / name;
        std::ofstream(path) << text;
        return path;
    };
    const std::string modules = write("modules", "drv 4096 0 - Live 0xbf012000 (O)\n"
                                                 "other 4096 1 drv, Live 0xbf020000\n");
    const std::string list = write("list", "c0008000 T start\nc0009000 D _etext\n");
    REQUIRE(std::system(("gzip -k " + list + " " + built.file()).c_str()) == 0);
    symbols::Symbols names;
    symbols::ModuleFiles unplaced;
    symbols::add_files(names, unplaced, std::vector{built.file() + ".gz", list + ".gz", modules});
    CHECK(unplaced.modules().empty());
    Location first, other, start, none;
    REQUIRE(names.locate(0xbf01'2000, first));
    CHECK(first.function == "first");
    CHECK(first.lines.size() > 0);
    REQUIRE(names.locate(0xbf02'0010, other));
    CHECK(other.module == "other");
    REQUIRE(names.locate(0xc000'8010, start));
    CHECK(start.function == "start");
    CHECK(!names.locate(0xc000'9000, none));

    const auto fails = [&](const std::string& file, const std::string& why) {
        symbols::Symbols none;
        CAPTURE(file);
        CHECK_THROWS_WITH(symbols::add_files(none, unplaced, std::vector{file}),
                          Catch::Contains(why) && Catch::Contains(file.substr(0, file.find('@'))));
    };
    CHECK_THROWS_WITH(symbols::section_of(std::vector{built.file()}),
                      Catch::Contains("use FILE@ADDRESS") && Catch::Contains(built.file()));
    fails(built.folder() / "none", "cannot read");
    fails(built.folder(), "it is a folder");
    fails(write("bad", "c0008000 T a\nwhat is this\n"), "line 2 is not a symbol");
    fails(write("hidden", "drv 4096 0 - Live 0x00000000\n"), "line 1: the address is 0");
    fails(write("odd", "drv 4096 0 - Live\nx\n"), "line 1 is not a line of /proc/modules");
    fails(write("noise", std::string("\1\2\3\0", 4)), "no symbols found");
    fails(write("cut.ko", std::string("\177ELF", 4)), "ELF");
    fails("/proc/self/exe", "not a little-endian 32-bit ARM ELF file");
}

TEST_CASE("a module's file has the instructions of its functions") {
    const Built built("-c");
    constexpr std::uint32_t base = 0xbf00'0000;
    symbols::ElfFiles files;
    symbols::symbols_of(std::vector{built.file() + "@0xbf000000"}, files);
    REQUIRE(files.size() == 1);
    const std::string said = Built::run("arm-none-eabi-objdump -d -j .text " + built.file());
    std::size_t compared = 0;
    std::istringstream lines(said);
    for (std::string line; std::getline(lines, line);) {
        std::uint32_t offset = 0, word = 0;
        char more = 0;
        if (std::sscanf(line.c_str(), " %x:\t%8x %c", &offset, &word, &more) == 3 &&
            line.find_first_of(" \t", line.find('\t') + 1) - line.find('\t') == 9) { // ARM
            CHECK(files[0]->word(base + offset) == word);
            ++compared;
        }
    }
    CHECK(compared > 20);
    CHECK(files[0]->word(base - 4) == std::nullopt);
    CHECK(files[0]->word(base + 0x10000) == std::nullopt);
    CHECK_THROWS_WITH(symbols::symbols_of(std::vector{built.file()}, files),
                      Catch::Contains("FILE@ADDRESS"));
}

TEST_CASE("section headers that share a symbol table give no more symbols than it has") {
    symbols::ElfFile elf(with_shared_table(4, 3));
    elf.place(0xbf00'0000, "drv");
    const symbols::SymbolList all = elf.symbols();
    CHECK(std::ranges::count(all, "a", &symbols::Symbol::name) == 4);
    CHECK(all.size() == 5); // with the end of the code
    Location location;
    CHECK(elf.locate(0xbf00'0003, location));
    CHECK(!elf.locate(0xbf00'0004, location));
}

TEST_CASE("no more symbols are read than a kernel has") {
    symbols::ElfFile elf(with_shared_table(4u << 20 | 1, 1));
    elf.place(0xbf00'0000, "drv");
    const test::Allocations read;
    CHECK_THROWS_WITH(elf.symbols(), "it has more than 4194304 symbols");
    CHECK(read.bytes() < 8u << 20);
}
