// Lost updates: a register is read, another CPU writes it, and then the reader writes it, with the
// bits that it had read. docs/sharing.md defines it.
#pragma once

#include "analysis/threads.hpp"
#include "mmioscope/event.hpp"
#include "system/spilled_map.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

namespace mmioscope::analysis {

/// The updates of one register that one function lost of another one.
struct LostUpdate {
    std::uint64_t times = 0;
    std::uint64_t bits = 0;  ///< that the other CPU changed, and the last write changed back
    std::uint64_t value = 0; ///< of these bits, as the other CPU wrote them, the first time
    Event other;             ///< the write that was lost, the first time
    Event write;             ///< the write over it, the first time

    void add(const LostUpdate& other);
};

class LostUpdates {
public:
    /// The next access, which `thread` made.
    void add(const Event& event, Thread thread);
    /// A run of an interrupt's handler begins on a CPU: what it did before is another run's.
    void begin(const Event& acknowledge) { began_[acknowledge.record.cpu] = acknowledge.number; }
    /// What comes does not follow from what came: accesses were lost.
    void cut();
    /// Calls `take` with each candidate, in the order of addresses. The end: nothing may be added.
    void each(const std::function<void(const LostUpdate&)>& take);

private:
    /// The address and size of accesses.
    using Place = std::uint64_t;
    /// How a register behaves: whether reads give what was written.
    struct Keeping {
        bool kept = false;        ///< bits that a write changed were read back, all of them
        bool no_storage = false;  ///< a write did not set what it wrote: commands, data
        std::uint64_t unkept = 0; ///< bits that were read otherwise than they were written

        bool says_something() const { return kept || no_storage || unkept != 0; }
    };
    struct State {
        State() {} // as in SharedUses::Live
        Keeping keeping;
        bool known = false;        ///< `content` is
        bool written = false;      ///< the last access was a write
        bool known_before = false; ///< `before` is
        std::uint64_t content = 0; ///< as it was read or written last
        std::uint64_t before = 0;  ///< the content before the write
        Event newest;              ///< write
    };
    /// A read that a write of the same thread may follow.
    struct Read {
        Event event;
        Thread thread = 0;
    };
    /// Of one register: its keeping, or a candidate.
    struct Entry {
        Keeping keeping;
        LostUpdate lost;
        void add(const Entry& other);
    };

    static constexpr std::size_t most_registers = 1024;
    static constexpr unsigned read_bits = 9;
    /// ns; a write that comes later does not write what was read.
    static constexpr std::uint64_t longest = 1'000'000'000;

    Read& read_of(Place place, Thread thread);
    State& state_of(Place place);
    void judge(Place place, const State& state, const Read& read, const Event& write);
    void spill();

    std::unordered_map<Place, State> states_;
    std::vector<Read> reads_ = std::vector<Read>(std::size_t{1} << read_bits); ///< by hash
    std::array<std::uint64_t, 256> began_{}; ///< by CPU: Event::number
    SpilledMap<Entry> entries_{256};         ///< by place, then by the functions
};

} // namespace mmioscope::analysis
