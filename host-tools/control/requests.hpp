// Parses the commands of `mmioscope ctl`, of `mmioscope-guest ctl` and of --at-start into requests
// (abi/control.hpp).
#pragma once

#include "abi/control.hpp"
#include "wire/stream_head.hpp"

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace mmioscope::control {

/// A request without its id.
struct Ask {
    abi::control::Command command;
    std::uint32_t first = 0;
    std::uint32_t second = 0;
    bool of_module = false; ///< Linux maps its code in a process when that first executes it

    bool operator==(const Ask&) const = default;
};

/// A range of physical addresses.
struct Place {
    std::uint64_t base;
    std::uint64_t size;
};

/// Finds the device `name`: each entry of its `reg`. Throws Error (bad_input) if there is none.
using FindDevice = std::function<std::vector<Place>(const std::string& name)>;

/// An instruction of the guest's kernel, at a virtual address.
struct Instruction {
    std::uint32_t address;
    std::uint32_t word;
    std::uint32_t flags; ///< in the address of its probe (abi/control.hpp)
    bool of_module = false;
};

/// The request for its probe, behind `rule`: what is only counted has no returns.
Ask probe_of(const Instruction& at, const std::vector<Ask>& rule = {});

extern const char probe_options_help[]; ///< what may follow a function in a word

/// Finds the first instructions of all functions with this name, which may be a pattern, or the one
/// at an address. Throws Error (bad_input) if there is none.
using FindCode = std::function<std::vector<Instruction>(const std::string& name)>;

/// The requests for `words`, in order. Calls `find` only for words that are not numbers, and `code`
/// only for probes; without it they are wrong words. Throws Error (bad_input) with one line that
/// names the wrong word. answer_text() formats the replies to `status` and `statistics`.
std::vector<Ask> asks_of(std::span<const std::string> words, const FindDevice& find,
                         const FindCode& code = {});

/// The whole pages of BASE+SIZE, or of what `find` finds. Throws Error (bad_input), as for what
/// ends above 4 GiB.
std::vector<Place> pages_of(const std::string& word, const FindDevice& find);

/// Splits a command in one text at its spaces.
std::vector<std::string> words_of(const std::string& text);

/// For --help: one line for each command.
extern const char commands_help[];

// Finds the addresses of devices by their names in the trace.

/// The devices' names in `print`, each once, sorted.
std::set<std::string> device_names(const wire::StreamHead& head);

/// Every `reg` entry of the device with this `name`: a path, an alias, or another of
/// tree::names_of() if only one device has it. Throws Error (bad_input) that suggests similar
/// names.
std::vector<Place> find_device(const wire::StreamHead& head, const std::string& name);

} // namespace mmioscope::control
