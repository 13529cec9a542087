// A poll: a loop that reads a register until its value changes, or until the code gives up.
// docs/polls.md defines it.
#pragma once

#include "analysis/data_registers.hpp"
#include "analysis/loop.hpp"
#include "analysis/threads.hpp"
#include "records/ticks.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace mmioscope::analysis {

enum class PollKind : std::uint8_t {
    poll,
    handshake, ///< the loop also carries data, whenever the register permits it
};

enum class PollEnd : std::uint8_t {
    value,     ///< the register's value changed
    given_up,  ///< the code left the loop without that
    data_over, ///< the same for a handshake: there was no more data
    unended,   ///< the trace ended first, or a limit of memory cut the loop
};
inline constexpr std::size_t poll_ends = 4;

struct Poll {
    PollKind kind = PollKind::poll;
    PollEnd end = PollEnd::value;
    Event read;              ///< the last read of the polled register
    std::uint64_t reads = 0; ///< of that register
    std::uint64_t bits = 0;  ///< that changed at the end, and never before; 0: none
    unsigned period = 1;     ///< accesses
    std::uint64_t accesses = 0;
    Event first, last;

    std::uint64_t nanoseconds() const {
        return trace::elapsed(first.nanoseconds, last.nanoseconds);
    }
};

/// "poll", "handshake".
std::string_view kind_text(PollKind kind);
/// "value", "given up", "data over", "unended".
std::string_view end_text(PollEnd end);

/// The poll that `loop` was, after the guest left it. Nothing: it was no poll.
std::optional<Poll> poll_of(const Loop& loop, const DataRegisters& data);

} // namespace mmioscope::analysis
