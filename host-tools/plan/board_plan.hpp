// How a board would be traced: everything that `mmioscope plan` prints.
#pragma once

#include "plan/survey.hpp"
#include "table/table.hpp"

#include <cstdint>
#include <optional>
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

} // namespace mmioscope::plan
