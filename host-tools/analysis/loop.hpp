// A loop in the guest's code: a sequence of accesses that repeats.
#pragma once

#include "analysis/repeats.hpp"
#include "mmioscope/event.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace mmioscope::analysis {

/// What a loop reads from one register, or writes at one place.
struct Watch {
    Event newest; ///< the newest access
    std::uint64_t accesses = 0;
    bool known = true;         ///< all values are known
    std::uint64_t before = 0;  ///< the value of the access before the newest
    std::uint64_t changed = 0; ///< bits that changed before the newest access
    // Numbers of accesses before the newest: with the same value as the access before, a larger or
    // a smaller one.
    std::uint64_t same = 0, more = 0, less = 0;

    void add(const Event& event);
    /// Bits that changed with the newest access.
    std::uint64_t last_change() const { return newest.record.value ^ before; }
    /// The value changed more often than it stayed the same.
    bool varies() const { return more + less > same; }
};

class Loop {
public:
    explicit Loop(unsigned period) : period_(period) {}

    /// Adds the loop's next access.
    void add(const Event& event);

    unsigned period() const { return period_; } ///< accesses
    std::uint64_t accesses() const { return accesses_; }
    const Event& first() const { return first_; }
    const Event& last() const { return watches_[last_].newest; }
    /// In the order of their newest accesses.
    std::vector<Watch> watches() const;

private:
    unsigned watch_of(const Event& event);

    unsigned period_;
    std::uint64_t accesses_ = 0;
    Event first_;
    std::vector<Watch> watches_;
    std::uint8_t last_ = 0; ///< index in watches_ of the newest access
    std::array<std::uint8_t, Repeats::most_period> by_position_{}; ///< index in watches_
};

} // namespace mmioscope::analysis
