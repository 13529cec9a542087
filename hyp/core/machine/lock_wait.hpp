// How long a CPU has waited for one region's lock while the same CPU held it without making an
// access. Accesses of this CPU to other regions, in an interrupt handler, do not interrupt the
// wait. A lock that several CPUs pass on is contended, not lost. Nor does the wait close the fast
// path: if that takes the lock, it counts an access, and then the holder is another one.
#pragma once

#include "trace/region_lock.hpp"

namespace mmioscope {

class LockWait {
public:
    /// At time `now`, `holder` has the lock that this CPU has asked for. True once per wait, when
    /// that has been so for `patience` ticks.
    bool overdue(const LockHolder& holder, std::uint64_t now, std::uint64_t patience) {
        if (!waiting_ || holder != holder_) begin(holder, now);
        if (told_ || now - since_ < patience) return false;
        told_ = true;
        return true;
    }

    /// The lock is free now.
    void end() { waiting_ = false; }
    /// This CPU got `locks`.
    void end(const HeldLocks& locks) {
        if (waiting_ && locks.holds(*holder_.owner)) waiting_ = false;
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
