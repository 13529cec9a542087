// The current mapping of each page. Keeps some in memory, the others in a temporary file where each
// page has a fixed place.
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
        std::uint64_t id = 0;   ///< 0: none yet
    };

    explicit PageMappings(std::size_t most = 1024) : most_(most) {}

    /// The mapping of a page; `number` is below 2^40. It may be changed until the next call. Throws
    /// Error (failed) if the temporary file fails.
    Mapping& of(std::uint64_t number);

private:
    void spill();
    Mapping stored(std::uint64_t number) const;

    std::size_t most_;
    std::unordered_map<std::uint64_t, Mapping> held_;
    FileDescriptor file_; ///< none: all are in memory
};

} // namespace mmioscope::exporting
