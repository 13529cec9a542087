// How a board would be traced: everything that `mmioscope plan` prints.
#pragma once

#include "plan/survey.hpp"
#include "run/board.hpp"
#include "table/table.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mmioscope::plan {

/// A statement about the board, or a command to type (`text` alone).
struct Line {
    std::string_view section;
    std::string node = {}; ///< path; empty: about no node
    std::optional<std::uint64_t> address = {};
    std::optional<std::uint64_t> size = {};
    std::string text = {};
};

/// In the order of the output: the verdict, what is missing, what the boot loader must supply,
/// memory, CPUs, UARTs, interrupt controller.
std::vector<Line> describe(const Survey& board);

/// A line for each `reg` entry: whether `trace all` traces it, and its page mates.
std::vector<Line> devices(const Survey& board);

/// What to type, sections host and U-Boot; empty if it is not known where the hypervisor lies.
std::vector<Line> commands(const Survey& board);

/// All of these, with the same columns for programs.
std::vector<table::Table> tables(const Survey& board);

// Devices that share a page: whoever traces or withholds one makes the others trap, too.

/// The regions of other nodes that have bytes in a page with bytes of region `of`, in ascending
/// order.
std::vector<std::uint16_t> page_mates(const Survey& board, std::uint16_t of);

// Which UART the trace would leave the board by.

struct StreamUart {
    int node = -1;       ///< negative: there is none
    bool shared = false; ///< it is the guest's console, too (mmioscope,stream-shared)
};

/// A UART in use besides the guest's console; else the console, if the two can share it; else a
/// UART that the tree disables, whose pins and clock the boot loader must turn on.
StreamUart stream_uart(const Survey& board);

// A board of QEMU's that `run` has no row for: what its device tree says of it.

/// The board that QEMU calls `name`, by its device tree: with all its memory and CPUs, and the
/// guest's console as the only UART. Throws Error (bad_input) that says what it lacks.
run::Board tried_board(const std::string& name, std::span<const std::byte> tree);

} // namespace mmioscope::plan
