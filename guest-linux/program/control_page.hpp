// Requests to the hypervisor through its control page (abi/control.hpp).
#pragma once

#include "abi/control.hpp"
#include "physical_memory.hpp"

namespace mmioscope::guest {

class ControlPage {
public:
    /// Throws Error: the page cannot be mapped (bad_input), is not a control page, or has another
    /// version (failed).
    explicit ControlPage(PhysicalRange range);

    /// Sends a request, and sends it again if a request of another program interfered. Throws Error
    /// (failed) if there is no answer.
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
