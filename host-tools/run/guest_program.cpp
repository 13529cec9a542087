#include "run/guest_program.hpp"

#include "abi/layout.hpp"
#include "run/boot_image.hpp"
#include "run/selection.hpp"
#include "system/error.hpp"

#include <algorithm>

namespace mmioscope::run {

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

} // namespace mmioscope::run
