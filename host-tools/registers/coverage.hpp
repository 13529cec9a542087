// How many of the accessed registers have names. Counts registers, not accesses.
#pragma once

#include "mmioscope/event.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace mmioscope::registers {

/// One register of one device, or one offset that no description has.
struct Touched {
    std::uint64_t reads = 0;
    std::uint64_t writes = 0;
    bool device = true; ///< all accesses to it are named so far
    bool reg = true;
    bool field = true;
};

/// So many registers, and how many of them are named how far.
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

    /// By device; and all together.
    std::map<std::string, CoverageCount> devices() const;
    CoverageCount total() const;

    using Place = std::pair<std::string, std::uint64_t>; ///< device, offset
    /// What is not named to the field.
    std::map<Place, Touched> unnamed() const;

private:
    std::map<Place, Touched> touched_;
};

} // namespace mmioscope::registers
