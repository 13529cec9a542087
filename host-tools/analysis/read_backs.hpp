// Reads that say nothing new: directly behind each write of a register, its thread reads what was
// written, or a register that never changes. Drivers do it to wait until a write has arrived.
#pragma once

#include "analysis/loop.hpp"
#include "analysis/threads.hpp"
#include "mmioscope/event.hpp"
#include "system/capped_map.hpp"

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace mmioscope::analysis {

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

} // namespace mmioscope::analysis
