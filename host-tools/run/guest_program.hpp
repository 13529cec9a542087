// The guest's first program: a zImage, or with --bare a raw binary or an ELF file.
#pragma once

#include "run/board.hpp"
#include "run/input.hpp"
#include "run/run_options.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace mmioscope::run {

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

} // namespace mmioscope::run
