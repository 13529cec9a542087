#include "run/input.hpp"

#include "abi/layout.hpp"
#include "run/early_requests.hpp"
#include "system/crc.hpp"
#include "system/error.hpp"
#include "system/file_descriptor.hpp"
#include "tree/device_tree.hpp"

#include <arpa/inet.h>
#include <libfdt.h>

#include <algorithm>
#include <cstring>
#include <span>

namespace mmioscope::run {

namespace {

// Documentation/arm/booting.rst and arch/arm/boot/compressed/head.S of Linux.
constexpr std::size_t zimage_magic_at = 0x24;
constexpr std::size_t zimage_start_at = 0x28;
constexpr std::size_t zimage_end_at = 0x2c;
constexpr std::uint32_t zimage_magic = 0x016f'2818;

std::uint32_t word(const Bytes& bytes, std::size_t at) {
    std::uint32_t value = 0;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
}

} // namespace

Bytes read_input(const std::string& path, const char* what) {
    if (path.empty()) {
        throw bad_input("no {} given (see --help)", what);
    }
    const std::string text = whole_file(path, what);
    const auto bytes = std::as_bytes(std::span(text));
    if (!std::filesystem::is_regular_file(path)) { // QEMU reads it, too
        throw bad_input("{} {} is not a regular file", what, path);
    }
    if (bytes.empty()) {
        throw bad_input("{} {} is empty", what, path);
    }
    return {bytes.begin(), bytes.end()};
}

void check_zimage(const Bytes& kernel, const std::string& path) {
    if (kernel.size() < zimage_end_at + 4 || word(kernel, zimage_magic_at) != zimage_magic) {
        throw bad_input("{} is not an ARM zImage{}", path,
                        tree::known_or(kernel, " (a bare-metal binary needs --bare)"));
    }
    const std::uint32_t size = word(kernel, zimage_end_at) - word(kernel, zimage_start_at);
    if (kernel.size() < size) {
        throw bad_input("{} is truncated: {} of {} bytes", path, kernel.size(), size);
    }
}

// Linux unpacks what is compressed, and takes what it does not know for a file system.
void check_ramdisk(const Bytes& ramdisk, const std::string& path) {
    const std::string known = tree::known_file(ramdisk);
    if (!known.empty() && !known.starts_with("compressed") && !known.starts_with("a ramdisk")) {
        throw bad_input("{} is no ramdisk that Linux unpacks: it is {}", path, known);
    }
}

void check_tree(const Bytes& tree, const std::string& path) {
    if (tree.size() < sizeof(fdt_header) || fdt_magic(tree.data()) != FDT_MAGIC) {
        throw bad_input("{} is not a flattened device tree{}", path, tree::known_or(tree, ""));
    }
    const std::size_t size = fdt_totalsize(tree.data());
    if (tree.size() < size) {
        throw bad_input("{} is truncated: {} of {} bytes", path, tree.size(), size);
    }
    if (!tree::tree_is_sound(tree)) {
        throw bad_input("{} is a damaged device tree", path);
    }
    if (const std::string known = tree::known_tree(tree); !known.empty()) {
        throw bad_input("{} is {}", path, known);
    }
}

void check_board(const Bytes& tree, const std::string& path, const Board& board) {
    const auto differs = [&tree](std::string_view compatible) {
        return fdt_node_check_compatible(tree.data(), 0, std::string(compatible).c_str());
    };
    if (board.compatible.empty() || differs(board.compatible) <= 0) { // negative: the root has none
        return;
    }
    const char* model = fdt_stringlist_get(tree.data(), 0, "model", 0, nullptr);
    const Board* const other =
        board_of_tree([&differs](std::string_view of) { return differs(of) == 0; });
    throw bad_input("{} is the tree of {}, not of {}: --board {}", path,
                    model != nullptr ? model : "another board", board.name,
                    other != nullptr ? other->name : "NAME, which QEMU calls it");
}

namespace {

std::uint64_t end_of(const Module& part) {
    return part.address + part.size;
}

bool contains(const Module& outer, const Module& inner) {
    return outer.address <= inner.address && end_of(inner) <= end_of(outer);
}

/// Linked addresses are virtual, loaded ones physical.
std::uint32_t physical_entry(std::uint32_t entry, const std::vector<Elf32_Phdr>& segments,
                             const std::string& path) {
    for (const Elf32_Phdr& segment : segments) {
        if (entry - segment.p_vaddr < segment.p_memsz) {
            return entry - segment.p_vaddr + segment.p_paddr;
        }
    }
    throw bad_input("{}: its entry {:#x} is in none of its segments", path, entry);
}

GuestProgram elf_program(const Bytes& elf, const std::string& path) {
    const Elf32_Ehdr header = elf_header(elf, path);
    if (header.e_type != ET_EXEC) {
        throw bad_input("{} is not linked for fixed addresses (ET_EXEC): link it without -r, "
                        "-shared and -pie",
                        path);
    }
    const std::vector<Elf32_Phdr> segments = load_segments(elf, path);
    GuestProgram program;
    for (const Elf32_Phdr& segment : segments) {
        program.parts.push_back({segment.p_paddr, segment.p_memsz});
    }
    std::ranges::sort(program.parts, {}, &Module::address);
    program.entry = physical_entry(header.e_entry, segments, path);
    return program;
}

GuestProgram raw_program(const Options& options, const Board& board, std::uint64_t size) {
    GuestProgram program;
    program.load_at = options.load_at.value_or(board.kernel_address());
    program.parts = {{*program.load_at, size}};
    if (options.load_at || options.entry) {
        program.entry = options.entry.value_or(static_cast<std::uint32_t>(*program.load_at));
    }
    return program;
}

std::string text_of(const Module& part) {
    return fmt::format("{:#x}+{:#x}", part.address, part.size);
}

/// In memory or in one device of the tree, and not where somebody else is.
void check_place(const Module& part, const Options& options, const Board& board,
                 const std::vector<abi::RegionEntry>& devices) {
    const std::uint64_t base = board.hypervisor_base();
    const Module hypervisor{base, abi::area_offset + options.area_size};
    const Module tree{options.tree_at.value_or(base - abi::guest_tree_room), abi::guest_tree_room};
    if (overlap(part, hypervisor)) {
        throw bad_input("{}: {} overlaps the hypervisor, {}", options.kernel, text_of(part),
                        text_of(hypervisor));
    }
    if (overlap(part, tree)) {
        throw bad_input("{}: {} overlaps the guest's device tree, {}: see --tree-at",
                        options.kernel, text_of(part), text_of(tree));
    }
    const Module ram{board.ram_base, options.memory - board.withheld_memory};
    const bool on_board = std::ranges::any_of(devices, [&](const abi::RegionEntry& device) {
        return contains({device.base, device.size}, part);
    });
    if (!contains(ram, part) && !on_board) {
        throw bad_input("{}: {} is neither in the memory, {}, nor in a device of the tree",
                        options.kernel, text_of(part), text_of(ram));
    }
}

void check_bare(const Options& options, bool elf) {
    if (elf && (options.load_at || options.entry)) {
        throw bad_input("{} is an ELF file, which says itself where it is loaded and entered: no "
                        "--load-at, no --entry",
                        options.kernel);
    }
    if (!options.bare && (options.load_at || options.entry || options.tree_at)) {
        throw bad_input("--load-at, --entry and --tree-at need --bare");
    }
}

} // namespace

bool overlap(const Module& a, const Module& b) {
    return a.address < end_of(b) && b.address < end_of(a);
}

GuestProgram guest_program(const Options& options, const Board& board, const Bytes& tree) {
    const Bytes file = read_input(options.kernel, "kernel");
    const bool elf = options.bare && is_elf(file);
    check_bare(options, elf);
    if (!options.bare) {
        check_zimage(file, options.kernel);
    }
    GuestProgram program =
        elf ? elf_program(file, options.kernel) : raw_program(options, board, file.size());
    const std::vector<abi::RegionEntry> devices = tree_devices(tree).regions;
    for (std::size_t i = 0; i < program.parts.size(); ++i) {
        check_place(program.parts[i], options, board, devices);
        if (i > 0 && overlap(program.parts[i - 1], program.parts[i])) {
            throw bad_input("{} is damaged: its segments overlap", options.kernel);
        }
    }
    return program;
}

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
