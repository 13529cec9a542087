// A source of function names for addresses.
#pragma once

#include "mmioscope/event.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string_view>

namespace mmioscope::symbols {

/// Addresses from the first to the last, both included; initially empty.
struct Reach {
    std::uint64_t first = UINT64_MAX; ///< 64 bits, so that ends do not wrap
    std::uint64_t last = 0;

    bool has(std::uint32_t address) const { return address >= first && address <= last; }
    void add(std::uint64_t from, std::uint64_t to) {
        first = std::min(first, from);
        last = std::max(last, to);
    }
};

using VisitName = std::function<void(std::string_view name)>;

class Source {
public:
    virtual ~Source() = default;

    /// Stores what is at `address` in `to`, which must be empty; false if this source does not know
    /// it.
    virtual bool locate(std::uint32_t address, Location& to) = 0;

    /// Calls `visit` with the name of each function that it may find.
    virtual void each_function(const VisitName&) {}

    /// The range of addresses that it may know.
    virtual Reach reach() { return {0, UINT32_MAX}; }
};

} // namespace mmioscope::symbols
