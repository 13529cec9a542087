// Whether the newest accesses of a thread repeat those before them, for each period.
#pragma once

#include "mmioscope/event.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace mmioscope::analysis {

/// The register, direction and size of an access.
std::uint64_t place_of(const abi::Record& record);

class Repeats {
public:
    static constexpr unsigned most_period = 16; ///< accesses

    /// The thread's next access.
    void add(const Event& event);
    /// Accesses so far are no part of what comes.
    void clear();

    /// The shortest period that goes on now and of which more than two are there; 0: none.
    unsigned period() const;
    /// The newest access is at the same place of the code, and of the same kind, as the one so many
    /// before.
    bool goes_on(unsigned period) const { return repeated_[period - 1] > 0; }

    /// The access that is so many before the newest one, up to 2 * most_period. What `period`
    /// says is there is there.
    const Event& back(unsigned count) const { return events_[(newest_ + kept - count) % kept]; }

private:
    static constexpr std::size_t kept = 2 * most_period + 1;

    std::array<std::uint64_t, most_period> sites_{};    ///< the last ones, the newest first
    std::array<std::uint32_t, most_period> repeated_{}; ///< by period: as many are repeated
    std::vector<Event> events_;                         ///< a ring; no more than there are
    std::size_t newest_ = 0;
};

} // namespace mmioscope::analysis
