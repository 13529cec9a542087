// What in a trace deserves a look: findings of one line, with a number and an event each. docs/
// advise.md defines them.
#pragma once

#include "analysis/loop.hpp"
#include "analysis/poll.hpp"
#include "analysis/sharing.hpp"
#include "mmioscope/event.hpp"
#include "reading/drive.hpp"
#include "system/capped_map.hpp"
#include "table/table.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace mmioscope::analysis {

// Reads that say nothing new: directly behind each write of a register, its thread reads what was
// written, or a register that never changes. Drivers do it to wait until a write has arrived.

class ReadBacks {
public:
    /// The accesses to one register in one direction.
    struct Site {
        // Writes:
        std::uint64_t writes = 0;
        std::uint64_t followed = 0; ///< by such a read, always of one register
        std::uint64_t ticks = 0;    ///< in these reads
        Event write, read;          ///< the first of these writes, and the read behind it
        // Reads:
        std::uint64_t reads = 0;
        std::uint64_t value = 0; ///< the last one
        bool changed = false;    ///< it was not always that, or is not known

        bool is_same() const {
            return abi::physical_address(read.record) == abi::physical_address(write.record);
        }
    };

    /// The next access, which `thread` made.
    void add(const Event& event, Thread thread);
    /// What comes does not follow from what came: accesses were lost.
    void cut() { recent_.clear(); }
    /// Of the registers that were read back after each of their writes, in the order of events.
    std::vector<const Site*> found() const;

private:
    static constexpr std::size_t most_sites = 1024, most_threads = 128;

    /// What a thread did last.
    struct Recent {
        Event event;
        Site* written = nullptr; ///< if it was a write, or a read that follows one; null: neither
    };

    CappedMap<std::unordered_map<std::uint64_t, Site>> sites_{most_sites}; ///< by place_of()
    std::unordered_map<Thread, Recent> recent_;
};

class Advisor final : public reading::Consumer {
public:
    /// Of how many reads without a change a loop may be only code that looks at each of 32 bits.
    static constexpr std::uint64_t most_bits = 32;
    /// ns; a loop with its reads further apart sleeps, or is a handler that comes again and again.
    static constexpr std::uint64_t spinning = 1'000'000;
    /// ns; those who shorten a boot count tenths of a second.
    static constexpr std::uint64_t long_wait = 100'000'000;
    /// One in so many: a device whose accesses take less of the trace's time is not worth a change.
    static constexpr std::uint64_t share = 20;
    /// Fewer reads cost less than it does to think of them.
    static constexpr std::uint64_t many_writes = 32;
    /// ns; so late, Linux's timers and drivers notice.
    static constexpr std::uint64_t slow = 1'000'000;

    /// `also` is called with each poll, while the names of its events are valid. May be null.
    explicit Advisor(std::function<void(const Poll&)> also = {}) : also_(std::move(also)) {}

    // Drive it with reading::Losses::all: nothing is concluded across a loss.
    void add(const Event& event) override;
    void forget() override { polls_.forget(); }
    void finish() override;

    /// A row for each finding, the most important first. `frequency`: of the counter, Hz; 0: not
    /// known, and nothing is told of waits and times. The end: nothing may be added.
    table::Table table(std::uint32_t frequency);

    // What the findings are derived from.
    PollTable& polls() { return polls_; }
    Sharing& sharing() { return sharing_; }

private:
    struct Faults {
        std::uint64_t times = 0, event = 0;
    };
    struct Accesses {
        std::uint64_t count = 0, ticks = 0;
        Event longest;
    };
    static constexpr std::size_t most_loops = 1024, most_faults = 64;

    void add(const Poll& poll);

    std::function<void(const Poll&)> also_;
    PollTable polls_{[this](const Poll& poll) { add(poll); }};
    /// Loops that read without a pause, by register and function.
    CappedNames<Polls> waits_{most_loops}, in_vain_{most_loops};
    std::set<std::uint64_t> polled_; ///< place_of() registers that loops read
    Sharing sharing_;
    Threads threads_;
    ReadBacks read_backs_;
    CappedNames<Faults> faults_{most_faults};
    std::map<std::uint16_t, Accesses> devices_;          ///< by Record::device
    std::uint64_t first_ = ~std::uint64_t{0}, last_ = 0; ///< ns; of accesses
};

} // namespace mmioscope::analysis
