// What several CPUs do with the same registers, as a table. docs/sharing.md defines its lines.
#pragma once

#include "analysis/loop.hpp"
#include "analysis/shared_use.hpp"
#include "mmioscope/event.hpp"
#include "reading/drive.hpp"
#include "system/capped_map.hpp"
#include "table/table.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace mmioscope::analysis {

// Lost updates: a register is read, another CPU writes it, and then the reader writes it, with the
// bits that it had read. docs/sharing.md defines it.

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

/// In the order of the table.
enum class Shared : std::uint8_t {
    lost_update,     ///< a candidate
    never_ended,     ///< an interrupt
    shared_register, ///< 4 bytes
    shared_page,     ///< 4 KiB
    never_read_back, ///< a register
};

/// The acknowledges of one interrupt by one CPU that did not end it.
struct NeverEnded {
    Event first;
    std::uint64_t times = 0;
};

class Sharing final : public reading::Consumer {
public:
    void add(const Event& event) override;
    void finish() override { interrupts_.finish(); }

    /// A row for each finding: candidates first, shared things by how close in time, the others by
    /// number; `most` at most of each kind. For people a line counts the rows left out. Without
    /// `all`, only what is likely a bug has rows. Valid while this object exists, nothing is added,
    /// and the trace is open.
    table::Table table(std::size_t most, bool all = true);

    /// Calls `take` with each candidate of a lost update. The end: nothing may be added.
    void each_lost(const std::function<void(const LostUpdate&)>& take) { lost_.each(take); }
    /// Likewise with each CPU's interrupts that were never ended.
    void each_never_ended(const std::function<void(const NeverEnded&)>& take) const {
        for (const auto& [name, one] : never_ended_.held()) {
            take(one);
        }
    }

private:
    struct Finding {
        std::uint64_t rank;  ///< less is shown first
        std::uint64_t event; ///< Event::number
        std::variant<const LostUpdate*, const NeverEnded*, const Use*> what;
    };
    using Findings = std::array<std::vector<Finding>, 5>; ///< by kind
    Findings findings();
    void never_ended(const Event& acknowledge);

    static constexpr unsigned register_shift = 2, page_shift = 12;

    Threads threads_;
    LostUpdates lost_;
    /// By CPU and interrupt.
    CappedMap<std::map<std::pair<unsigned, std::uint64_t>, NeverEnded>> never_ended_{256};
    OpenInterrupts interrupts_{[this](const Event& event) { never_ended(event); }};
    SharedUses registers_{register_shift, LostUpdates::most_registers};
    std::uint64_t left_out_ = 0; ///< accesses to other registers
    SharedUses pages_{page_shift, 128};
};

} // namespace mmioscope::analysis
