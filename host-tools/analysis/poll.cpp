#include "analysis/poll.hpp"

#include <bit>

namespace mmioscope::analysis {

namespace {

/// A register that never changed was polled if it was read so often at least: code reads the same
/// some times for other reasons, too.
constexpr std::uint64_t least_unchanged = 8;
/// A status may have so many bits that come and go; more are data.
constexpr int most_masked = 4;
constexpr std::uint64_t least_masked = 4; ///< reads, from which on such bits are told from data
/// ns; an iteration takes at most so long, on average, if it carries data or writes and no register
/// changes: what is slower are calls that do the same again.
constexpr std::uint64_t longest_iteration = 2'000'000;

// A few bits come and go, and the others stay. What a counter gives only rises, or only falls.
bool is_masked(const Watch& watch) {
    return watch.more > 0 && watch.less > 0 && std::popcount(watch.changed) <= most_masked &&
           watch.accesses >= least_masked;
}

bool stays(const Watch& watch) {
    return (watch.same > 0 && !watch.varies()) || is_masked(watch);
}

// Bits that changed with the last read, and never before: what was awaited. 0: none.
std::uint64_t awaited(const Watch& watch) {
    return stays(watch) ? watch.last_change() & ~watch.changed : 0;
}

bool never_changed(const Watch& watch) {
    const bool same = (watch.changed | watch.last_change()) == 0;
    return watch.accesses >= least_unchanged && (same || is_masked(watch));
}

bool is_quick(const Poll& poll) {
    return poll.nanoseconds() / poll.accesses * poll.period <= longest_iteration;
}

} // namespace

std::string_view kind_text(PollKind kind) {
    return kind == PollKind::poll ? "poll" : "handshake";
}

std::string_view end_text(PollEnd end) {
    switch (end) {
    case PollEnd::value: return "value";
    case PollEnd::given_up: return "given up";
    case PollEnd::data_over: return "data over";
    case PollEnd::unended: return "unended";
    }
    return "";
}

// A loop is left soon after the read that ends it: the last one that may be it is.
std::optional<Poll> poll_of(const Loop& loop, const DataRegisters& data) {
    Poll poll;
    poll.period = loop.period();
    poll.accesses = loop.accesses();
    poll.first = loop.first();
    poll.last = loop.last();
    bool writes = false;
    for (const Watch& watch : loop.watches()) {
        const abi::Record& record = watch.newest.record;
        const bool is_data = data.has(record);
        if (is_data || (watch.varies() && !stays(watch))) {
            poll.kind = PollKind::handshake;
        }
        writes = writes || abi::is_write(record);
        if (abi::is_write(record) || is_data || !watch.known) {
            continue;
        }
        const std::uint64_t bits = awaited(watch);
        if (bits != 0 || (poll.bits == 0 && never_changed(watch))) {
            poll.read = watch.newest;
            poll.reads = watch.accesses;
            poll.bits = bits;
        }
    }
    const bool handshake = poll.kind == PollKind::handshake;
    if (poll.reads == 0 || (poll.bits == 0 && (writes || handshake) && !is_quick(poll))) {
        return std::nullopt;
    }
    poll.end = poll.bits != 0 ? PollEnd::value : handshake ? PollEnd::data_over : PollEnd::given_up;
    return poll;
}

} // namespace mmioscope::analysis
