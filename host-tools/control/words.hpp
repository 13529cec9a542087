// Parses the commands of `mmioscope ctl`, of `mmioscope-guest ctl` and of --at-start into requests
// (abi/control.hpp).
#pragma once

#include "abi/control.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace mmioscope::control {

/// A request but for its id.
struct Ask {
    abi::control::Command command;
    std::uint32_t first = 0;
    std::uint32_t second = 0;

    bool operator==(const Ask&) const = default;
};

/// Physical addresses.
struct Place {
    std::uint64_t base;
    std::uint64_t size;
};

/// Where the device `name` is, each entry of its `reg`. Throws Error (bad_input) if there is none.
using FindDevice = std::function<std::vector<Place>(const std::string& name)>;

/// What `words` ask for, in order; `find` is called only for words that are no numbers. Throws
/// Error (bad_input) with one line that says which word is wrong. `status` and `statistics` are
/// requests whose replies answer_text() makes readable.
std::vector<Ask> asks_of(std::span<const std::string> words, const FindDevice& find);

/// The words of a command that is one text: spaces are between them.
std::vector<std::string> words_of(const std::string& text);

/// For --help: a line for each command.
extern const char commands_help[];

} // namespace mmioscope::control
