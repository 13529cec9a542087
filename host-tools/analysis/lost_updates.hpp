// Lost updates: a register is read, another CPU writes it, and then the reader writes it, with the
// bits that it had read. docs/sharing.md defines it.
#pragma once

#include "analysis/threads.hpp"
#include "mmioscope/event.hpp"
#include "system/capped_map.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace mmioscope::analysis {

/// The updates of one register that one function lost of another one.
struct LostUpdate {
    std::uint64_t times = 0;
    std::uint64_t bits = 0;  ///< that the other CPU changed, and the last write changed back
    std::uint64_t value = 0; ///< of these bits, as the other CPU wrote them, the first time
    Event other;             ///< the write that was lost, the first time
    Event write;             ///< the write over it, the first time
};

class LostUpdates {
public:
    static constexpr std::size_t most_registers = 768, most_lost = 256;

    /// The next access, which `thread` made. False: it is not looked at, because its register is
    /// not among the first most_registers.
    bool add(const Event& event, Thread thread);
    /// A run of an interrupt's handler begins on a CPU: what it did before is another run's.
    void begin(const Event& acknowledge) { began_[acknowledge.record.cpu] = acknowledge.number; }
    /// What comes does not follow from what came: accesses were lost.
    void cut();
    /// Calls `take` with each candidate, which stays. The end: nothing may be added.
    void each(const std::function<void(const LostUpdate&)>& take);
    /// Likely candidates beyond the first most_lost.
    std::uint64_t left_out() const { return lost_.rest().times; }

private:
    /// The address and size of accesses.
    using Place = std::uint64_t;
    /// How a register behaves: whether reads give what was written.
    struct Keeping {
        bool kept = false;        ///< bits that a write changed were read back, all of them
        bool no_storage = false;  ///< a write did not set what it wrote: commands, data
        std::uint64_t unkept = 0; ///< bits that were read otherwise than they were written
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
    static constexpr unsigned read_bits = 9;
    /// ns; a write that comes later does not write what was read.
    static constexpr std::uint64_t longest = 1'000'000'000;

    Read& read_of(Place place, Thread thread);
    void judge(Place place, const State& state, const Read& read, const Event& write);

    CappedMap<std::unordered_map<Place, State>> states_{most_registers};
    std::vector<Read> reads_ = std::vector<Read>(std::size_t{1} << read_bits); ///< by hash
    std::array<std::uint64_t, 256> began_{}; ///< by CPU: Event::number
    /// By place and functions.
    CappedMap<std::map<std::pair<Place, std::string>, LostUpdate>> lost_{most_lost};
};

} // namespace mmioscope::analysis
