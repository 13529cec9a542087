// How many of the accessed registers have names. Counts registers, not accesses.
#pragma once

#include "mmioscope/event.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace mmioscope::registers {

/// A register of a device, or an offset without a description.
struct Touched {
    std::uint64_t reads = 0;
    std::uint64_t writes = 0;
    bool device = true; ///< all accesses so far are named to this level
    bool reg = true;
    bool field = true;
};

/// A number of registers, and how many of them have names at each level.
struct CoverageCount {
    std::uint64_t touched = 0;
    std::uint64_t device = 0;
    std::uint64_t reg = 0;
    std::uint64_t field = 0;

    void add(const Touched& one);
};

class Coverage {
public:
    void add(const Event& event);

    /// By device, and for all together.
    std::map<std::string, CoverageCount> devices() const;
    CoverageCount total() const;

    using Place = std::pair<std::string, std::uint64_t>; ///< device, offset
    /// Places without a name for their fields.
    std::map<Place, Touched> unnamed() const;

private:
    std::map<Place, Touched> touched_;
};

} // namespace mmioscope::registers
