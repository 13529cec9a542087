#include "analysis/poll.hpp"

#include <algorithm>
#include <bit>
#include <vector>

namespace mmioscope::analysis {

namespace {

/// Reads of a register that never changed: fewer are no poll, because code repeats a read for other
/// reasons, too.
constexpr std::uint64_t least_unchanged = 8;
/// The most bits of a status that come and go; if more do, it is data.
constexpr int most_masked = 4;
constexpr std::uint64_t least_masked = 4; ///< reads needed to tell such bits from data
/// ns; the longest average iteration of a loop that carries data, or that writes while no register
/// changes. Slower repetitions are separate calls that do the same.
constexpr std::uint64_t longest_iteration = 2'000'000;

// A few bits come and go, the others stay. A counter, in contrast, only rises or only falls.
bool is_masked(const Watch& watch) {
    return watch.more > 0 && watch.less > 0 && std::popcount(watch.changed) <= most_masked &&
           watch.accesses >= least_masked;
}

bool stays(const Watch& watch) {
    return (watch.same > 0 && !watch.varies()) || is_masked(watch);
}

// The awaited bits: they changed with the last read, and never before. 0: none.
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

// The guest leaves a loop soon after the read that ends it, so the last candidate is that read.
std::optional<Poll> poll_of(const Loop& loop, const DataRegisters& data) {
    Poll poll;
    poll.period = loop.period();
    poll.accesses = loop.accesses();
    poll.first = loop.first();
    poll.last = loop.last();
    bool writes = false;
    const std::vector<Watch> watches = loop.watches();
    // What the code writes itself it does not wait for: separate calls, which read before they
    // write.
    const auto is_written = [&watches](const abi::Record& read) {
        return std::ranges::any_of(watches, [&read](const Watch& other) {
            const abi::Record& record = other.newest.record;
            return abi::is_write(record) &&
                   abi::physical_address(record) == abi::physical_address(read);
        });
    };
    for (const Watch& watch : watches) {
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
        if (bits != 0 || (poll.bits == 0 && never_changed(watch) && !is_written(record))) {
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
