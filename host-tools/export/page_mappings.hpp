// Which mapping each page has just now: so many are in memory, the others in a temporary file,
// where each page has its place.
#pragma once

#include "system/file_descriptor.hpp"

#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace mmioscope::exporting {

class PageMappings {
public:
    struct Mapping {
        std::uint64_t page = 0; ///< physical
        std::uint64_t id = 0;   ///< 0: the page has none yet
    };

    explicit PageMappings(std::size_t most = 1024) : most_(most) {}

    /// The one of the page of this number, below 2^40, to be changed until the next one is asked
    /// for. Throws Error (failed) where the temporary file does not do what it should.
    Mapping& of(std::uint64_t number);

private:
    void spill();
    Mapping stored(std::uint64_t number) const;

    std::size_t most_;
    std::unordered_map<std::uint64_t, Mapping> held_;
    FileDescriptor file_; ///< none: all are in memory
};

} // namespace mmioscope::exporting
