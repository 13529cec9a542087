// How long a CPU has waited for one region's lock, in one go: as long as the same CPU has it and
// makes no access under it. What this CPU does meanwhile with other regions, in an interrupt's
// handler, does not matter; a lock that goes from hand to hand is contended, not lost.
#pragma once

#include "trace/region_lock.hpp"

namespace mmioscope {

class LockWait {
public:
    /// At `now` `holder` has the lock that this CPU has asked for. True if it has been so for
    /// `patience` ticks: once for each wait.
    bool overdue(const LockHolder& holder, std::uint64_t now, std::uint64_t patience) {
        if (!waiting_ || holder != holder_) begin(holder, now);
        if (told_ || now - since_ < patience) return false;
        told_ = true;
        return true;
    }

    /// Somebody has a lock that this CPU has asked for.
    bool running() const { return waiting_; }

    /// Nobody has it any more.
    void end() { waiting_ = false; }
    /// This CPU has the locks of `regions`.
    void end(const RegionSet& regions) {
        if (!waiting_) return;
        for (const std::uint16_t region : regions)
            if (region == holder_.region) waiting_ = false;
    }

private:
    void begin(const LockHolder& holder, std::uint64_t now) {
        waiting_ = true;
        told_ = false;
        holder_ = holder;
        since_ = now;
    }

    bool waiting_{};
    bool told_{};
    LockHolder holder_{};
    std::uint64_t since_{}; ///< CNTPCT
};

} // namespace mmioscope
