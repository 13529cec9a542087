// A poll: a loop that reads a register until its value changes, or until the code gives up.
// docs/polls.md defines it.
#pragma once

#include "abi/record.hpp"
#include "analysis/count.hpp"
#include "analysis/loop.hpp"
#include "reading/drive.hpp"
#include "records/ticks.hpp"
#include "system/capped_map.hpp"
#include "table/table.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace mmioscope::analysis {

// Registers that carry data: reads or writes had many different values.

/// Remembers the latest registers in a table of constant size. Registers that it has forgotten do
/// not count as data.
class DataRegisters {
public:
    void add(const abi::Record& record);
    /// Whether accesses to the register of `record`, in its direction, had about 32 different
    /// values or more.
    bool has(const abi::Record& record) const { return has(place_of(record)); }
    bool has(std::uint64_t place) const;

private:
    struct Slot {
        std::uint64_t place = 0;
        std::uint64_t values = 0; ///< a bit for each of 64 hashes that occurred
    };
    /// 32 different values set about this many of the 64 bits.
    static constexpr int many = 25;
    static constexpr unsigned slot_bits = 10;
    static std::size_t slot_of(std::uint64_t place);

    std::array<Slot, std::size_t{1} << slot_bits> slots_{};
};

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

// Finds the polls in a trace's events.

class PollFinder {
public:
    /// A poll of `thread` is over. The names of its events are valid.
    using Take = std::function<void(Thread thread, const Poll& poll)>;

    explicit PollFinder(Take take) : take_(std::move(take)) {}

    /// Adds the next event. Looks its names up only if it is part of a loop. Returns the thread
    /// whose loop it may be part of; nothing: it cannot be part of a loop.
    std::optional<Thread> add(const Event& event);

    /// The number of the first event of the current loop of `thread`. Nothing: it is in no loop.
    std::optional<std::uint64_t> begun(Thread thread) const;
    /// Ends the current loop of `thread` here; what follows is a new loop.
    void cut(Thread thread);
    /// What is known so far of registers that carry data.
    const DataRegisters& data() const { return data_; }
    /// Ends all loops: the trace is over, or names become invalid.
    void cut_all();

private:
    struct State {
        Repeats repeats;
        std::optional<Loop> loop;
        std::uint64_t time = 0; ///< of the newest access, ns
    };

    /// At this limit, forgets the threads that were idle longest.
    static constexpr std::size_t most_threads = 128;
    /// ns; accesses further apart do not belong to one loop: a clock of seconds that programs read
    /// now and then is no poll.
    static constexpr std::uint64_t longest_pause = 500'000'000;

    State& state_of(Thread thread, std::uint64_t now);
    void forget_oldest();
    void follow(Thread thread, State& state);
    void leave(Thread thread);
    /// Returns whether it was a poll.
    bool end(Thread thread, State& state, bool left = true) {
        return state.loop && end_loop(thread, state, left);
    }
    bool end_loop(Thread thread, State& state, bool left);

    Take take_;
    Threads threads_;
    DataRegisters data_;
    std::unordered_map<Thread, State> states_;
    std::pair<const Thread, State>* newest_ = nullptr; ///< of states_; null: not known
};

// The polls of a trace as a table: one row for each register that a function polls.

/// The awaited bits, and the value they got.
struct Condition {
    std::uint64_t bits = 0; ///< 0: none is known
    std::uint64_t value = 0;
};

/// All polls of one kind and register, by one function with one caller.
struct Polls {
    static constexpr std::size_t most_conditions = 4;

    std::uint64_t times = 0;
    std::uint64_t reads = 0;   ///< of the register
    std::uint64_t time = 0;    ///< ns, from each loop's first access to its last
    std::uint64_t longest = 0; ///< ns
    std::uint64_t event = 0;   ///< number of the first access of the longest poll
    std::array<std::uint64_t, poll_ends> ended{}; ///< by PollEnd
    /// One of these came true each time. Used entries come first; more conditions are left out.
    std::array<Condition, most_conditions> conditions{};
    // The register:
    std::uint64_t place = 0;       ///< place_of()
    const Register* reg = nullptr; ///< null: no description
    unsigned size = 4;             ///< bytes of the access
    unsigned within = 0;           ///< bytes from the register's start
    std::uint64_t stayed = 0;      ///< the last value

    std::uint64_t ended_by(PollEnd end) const { return ended[static_cast<std::size_t>(end)]; }
    void add(const Polls& other);
    void add(const Condition& one);
};

Polls polls_of(const Poll& poll);

class PollTable final : public reading::Consumer {
public:
    /// `also` is called with each poll, while the names of its events are valid. May be null.
    explicit PollTable(std::function<void(const Poll&)> also = {}) : also_(std::move(also)) {}

    void add(const Event& event) override { finder_.add(event); }
    void forget() override { finder_.cut_all(); }
    void finish() override { finder_.cut_all(); }

    /// At most `most` rows, those that took most time first; for people, a line with the number of
    /// the others. Valid while this object exists and the trace is open.
    table::Table table(std::size_t most);

    /// Registers that carry data, which have no rows; known only at the end.
    const DataRegisters& data() const { return finder_.data(); }

private:
    void add(const Poll& poll);

    PollFinder finder_{[this](Thread, const Poll& poll) { add(poll); }};
    std::function<void(const Poll&)> also_;
    CappedNames<Polls> polls_{2048}; ///< by the texts of their row, joined
    std::string name_;               ///< kept to avoid an allocation for each poll
};

/// "CmdRespEnd=1"; empty: none is known.
std::string condition_text(const Poll& poll);

} // namespace mmioscope::analysis
