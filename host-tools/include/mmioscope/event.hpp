// One event of a trace, with the names of its numbers: what commands, filters, exports and plug-ins
// see. Of the library's headers this one and abi/record.hpp are all that a plug-in needs.
#pragma once

#include "abi/record.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mmioscope {

/// Some bits of a register.
struct Field {
    std::string name;
    unsigned low = 0;   ///< least significant bit, 0 to 63
    unsigned width = 1; ///< bits, 1 to 64
    /// Names of values, if any.
    std::vector<std::pair<std::uint64_t, std::string>> values;
};

/// A register of a device, from its description.
struct Register {
    std::string name;
    std::uint64_t offset = 0; ///< bytes from the start of the `reg` entry
    unsigned size = 4;        ///< bytes
    std::string description;  ///< one line, may be empty
    std::vector<Field> fields;
};

/// A line of source code, and the function it is of.
struct SourceLine {
    std::string function;
    std::string file;
    unsigned line = 0;
};

/// What stands at an address of the guest's code.
struct Location {
    std::string function;
    std::uint32_t offset = 0; ///< bytes from the function's start
    std::string module;       ///< empty: the kernel itself
    /// Innermost first, as DWARF tells of inlined functions; empty without DWARF.
    std::vector<SourceLine> lines;
};

/// A task of the guest's.
struct Task {
    std::uint32_t pid = 0;  ///< of the thread, in the first PID namespace
    std::uint32_t tgid = 0; ///< of the process
    std::string comm;
};

/// A record with its names. Pointers are null, and texts empty, for what is not known. `reg` and
/// `task` hold as long as the trace they came from, all else until the next event is read: who keeps
/// an event copies it.
struct Event {
    const abi::Record* record = nullptr; ///< never null
    std::uint64_t nanoseconds = 0;       ///< since the trace's first record
    std::string_view device;             ///< "-" if the address belongs to no region
    std::uint64_t offset = 0; ///< bytes from the region's start; the physical address without one
    const Register* reg = nullptr;
    const Location* code = nullptr;   ///< of Record::pc
    const Location* caller = nullptr; ///< another function: by Record::lr, or what is known better
    const Task* task = nullptr;
    std::string_view interrupt; ///< that a GIC acknowledged, or was told the end of: what it is called
    std::string_view text;      ///< of a marker, and of other records that say something in words
};

} // namespace mmioscope
