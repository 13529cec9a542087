// Something that knows functions by their addresses.
#pragma once

#include "mmioscope/event.hpp"

#include <algorithm>
#include <cstdint>

namespace mmioscope::symbols {

/// Addresses from the first to the last, both of them in it; at first none.
struct Reach {
    std::uint64_t first = UINT64_MAX; ///< of 64 bits, so that no end wraps
    std::uint64_t last = 0;

    bool has(std::uint32_t address) const { return address >= first && address <= last; }
    void add(std::uint64_t from, std::uint64_t to) {
        first = std::min(first, from);
        last = std::max(last, to);
    }
};

class Source {
public:
    virtual ~Source() = default;

    /// What stands at `address` into `to`, which is empty; false if this source does not know.
    virtual bool locate(std::uint32_t address, Location& to) = 0;

    /// Where there is anything that it may know.
    virtual Reach reach() { return {0, UINT32_MAX}; }
};

} // namespace mmioscope::symbols
