// The device tree that a boot loader would pass to the hypervisor: the board's own, plus the size
// of RAM, the places of kernel and ramdisk, the command line, and what to trace.
#pragma once

#include "control/requests.hpp"
#include "run/board.hpp"
#include "run/input.hpp"
#include "run/run_options.hpp"
#include "symbols/kernel_image.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mmioscope::run {

struct BootTree {
    std::uint64_t memory;         ///< bytes of RAM
    unsigned cpus = 0;            ///< for the guest, if the board has a fixed number
    std::optional<Module> kernel; ///< nothing: `entry` says where the guest begins
    std::optional<Module> ramdisk;
    std::optional<std::string> command_line; ///< nothing: the tree's own, or the board's
    std::vector<std::string> trace;          ///< empty: the hypervisor's default
    std::string engine;                      ///< empty: the hypervisor's default
    std::string policy;                      ///< empty: the hypervisor's default
    bool slow_path = false;                  ///< no access takes the fast path
    bool no_breakpoints = false;             ///< as where DBGEN is low
    bool pre = false;                        ///< begin records
    std::uint32_t area_size;                 ///< bytes
    bool guest_reader = false;               ///< allow a second reader besides this program
    bool control_page = true;                ///< let the guest control the tracer
    std::vector<control::Ask> requests{};    ///< apply before the guest's first instruction
    std::optional<std::vector<std::uint32_t>> probes{};        ///< cells; nothing: no such property
    std::optional<std::vector<std::uint32_t>> loads_modules{}; ///< likewise
    std::optional<std::vector<std::uint32_t>> watch{};         ///< likewise
    std::optional<std::vector<std::uint32_t>> pages{};         ///< likewise
    std::vector<std::string> stacks{};                         ///< devices; empty: none
    std::uint32_t stack_size = 0;                              ///< bytes, if there are some
    std::string uart{};                       ///< the hypervisor's; empty: the board's choice
    std::string stream{};                     ///< empty: none
    bool stream_beside = false;               ///< shared memory is read, too
    std::optional<unsigned> stream_baud{};    ///< limit in bits/s
    std::optional<unsigned> stream_quantum{}; ///< ns
    bool stream_shared = false;
    std::string stream_fold{};
    std::optional<symbols::TaskOffsets> task_names{}; ///< nothing: names are not read
    std::optional<std::uint32_t> entry{};      ///< physical; nothing: the kernel's first byte
    std::optional<std::uint32_t> guest_tree{}; ///< physical; nothing: below the hypervisor
};

/// `tree` with all of this added. Throws Error (bad_input) if there is no room or no root.
Bytes compose_tree(const Bytes& tree, const Board& board, const BootTree& what);

// The device tree of a board that QEMU describes itself.

/// The tree that QEMU makes for `board` with the CPUs and the memory of `options`, as for a guest
/// without a hypervisor. Runs `qemu` for a moment. Throws Error with QEMU's message if it fails.
Bytes machine_tree(const Board& board, const Options& options, const std::string& qemu);

} // namespace mmioscope::run
