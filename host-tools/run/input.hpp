// The input files of a guest, read and checked before anything starts.
#pragma once

#include "run/board.hpp"
#include "run/run_options.hpp"

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace mmioscope::run {

using Bytes = std::vector<std::byte>;

/// All of `path`, a regular file of at most 64 MiB. Throws Error (bad_input) that calls it `what`.
Bytes read_input(const std::string& path, const char* what);

/// Throws Error (bad_input) unless `kernel` is a complete zImage.
void check_zimage(const Bytes& kernel, const std::string& path);

/// Throws Error (bad_input) if `ramdisk` is something that Linux does not unpack, such as an image
/// with U-Boot's header.
void check_ramdisk(const Bytes& ramdisk, const std::string& path);

/// Throws Error (bad_input) unless `tree` is a complete flattened device tree of a board.
void check_tree(const Bytes& tree, const std::string& path);

/// Throws Error (bad_input) that says whose tree it is if the sound `tree` is not one of `board`.
void check_board(const Bytes& tree, const std::string& path, const Board& board);

// The guest's first program: a zImage, or with --bare a raw binary or an ELF file.

/// A part of memory that is loaded before the start.
struct Module {
    std::uint64_t address; ///< physical
    std::uint64_t size;    ///< bytes
};

bool overlap(const Module& a, const Module& b);

struct GuestProgram {
    std::vector<Module> parts;            ///< by address; they do not overlap
    std::optional<std::uint64_t> load_at; ///< where the file goes; nothing: it is an ELF file
    /// Physical; bit 0: in Thumb state. Nothing: the kernel's first byte, as a boot loader does.
    std::optional<std::uint32_t> entry;
};

/// Reads and checks `options.kernel`, for `board` with the device tree `tree`. Throws Error
/// (bad_input) if it cannot be started, or does not fit between the guest's device tree and the
/// hypervisor into memory or a device of the tree (flash).
GuestProgram guest_program(const Options& options, const Board& board, const Bytes& tree);

// The hypervisor as a U-Boot image (U-Boot's include/image.h, "legacy"). QEMU starts it like
// U-Boot, in Hyp mode with PSCI firmware below; it would start an ELF file in Secure state, without
// firmware.

/// The image of `elf`, Throws Error (bad_input) that
/// names `path` if its segments are outside the file or too far apart.
Bytes boot_image(const Bytes& elf, const std::string& path);

// What of an ARM ELF file goes into memory.

bool is_elf(const Bytes& bytes);

/// The file's header. Throws Error (bad_input) that calls the file `what`, unless it begins like a
/// 32-bit little-endian ARM file.
Elf32_Ehdr elf_header(const Bytes& elf, const std::string& what);

/// Its segments of type PT_LOAD that are not empty in memory, at most 65,535. Throws Error
/// (bad_input) that calls the file `what`, if their bytes are not all in it.
std::vector<Elf32_Phdr> load_segments(const Bytes& elf, const std::string& what);

// Finds the hypervisor's ELF file for a load address.

/// The file for load address `base`, and a program in `folder`: beside it, as built, or in
/// ../lib/mmioscope/, as installed. Throws Error (bad_input) if there is none.
std::filesystem::path find_hypervisor(const std::filesystem::path& folder, std::uint64_t base);

/// The folder of this program, with links resolved.
std::filesystem::path folder_of_this_program();

} // namespace mmioscope::run
