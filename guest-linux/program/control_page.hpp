// Requests to the hypervisor through its control page (abi/control.hpp).
#pragma once

#include "abi/control.hpp"
#include "physical_memory.hpp"

namespace mmioscope::guest {

class ControlPage {
public:
    /// Throws Error: it cannot be mapped (bad_input), or it is none, or of another version
    /// (failed).
    explicit ControlPage(PhysicalRange range);

    /// Asks, again where another program's request came between. Throws Error (failed) if there is
    /// no answer.
    abi::control::Reply ask(abi::control::Command command, std::uint32_t first = 0,
                            std::uint32_t second = 0);
    abi::control::Reply ask(const abi::control::Request& request);

private:
    std::uint32_t load(unsigned offset) const;
    void store(unsigned offset, std::uint32_t value);

    PhysicalMemory memory_;
    std::uint16_t id_; ///< of the next request
};

} // namespace mmioscope::guest
