// Something that knows functions by their addresses.
#pragma once

#include "mmioscope/event.hpp"

#include <cstdint>

namespace mmioscope::symbols {

class Source {
public:
    virtual ~Source() = default;

    /// What stands at `address` into `to`, which is empty; false if this source does not know.
    virtual bool locate(std::uint32_t address, Location& to) = 0;
};

} // namespace mmioscope::symbols
