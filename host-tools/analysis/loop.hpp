// A loop in the guest's code, as its accesses show it: a sequence that repeats.
#pragma once

#include "analysis/repeats.hpp"
#include "mmioscope/event.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace mmioscope::analysis {

/// What a loop reads from one register, or writes at one place.
struct Watch {
    Event newest; ///< access
    std::uint64_t accesses = 0;
    bool known = true;         ///< all values are
    std::uint64_t before = 0;  ///< the value before the newest
    std::uint64_t changed = 0; ///< bits that changed in front of that
    // Accesses in front of the newest that had the same value as the one before them, more, less.
    std::uint64_t same = 0, more = 0, less = 0;

    void add(const Event& event);
    /// Bits that changed with the newest access.
    std::uint64_t last_change() const { return newest.record.value ^ before; }
    /// More often than not the value was another one.
    bool varies() const { return more + less > same; }
};

class Loop {
public:
    explicit Loop(unsigned period) : period_(period) {}

    /// Its next access.
    void add(const Event& event);

    unsigned period() const { return period_; } ///< accesses
    std::uint64_t accesses() const { return accesses_; }
    const Event& first() const { return first_; }
    const Event& last() const { return last_; }
    /// Those of which the last access is later stand behind.
    std::vector<Watch> watches() const;

private:
    unsigned watch_of(const Event& event);

    unsigned period_;
    std::uint64_t accesses_ = 0;
    Event first_, last_;
    std::vector<Watch> watches_;
    std::array<std::uint8_t, Repeats::most_period> by_position_{}; ///< index in watches_
};

} // namespace mmioscope::analysis
