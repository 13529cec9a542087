// Does not trace the devices that carry the trace, for a while.
#pragma once

#include "announced.hpp"
#include "control_page.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace mmioscope::guest {

class Untraced {
public:
    /// Deselects those of `regions` that the hypervisor can deselect, while this object exists.
    /// Throws Error.
    Untraced(const Announced& announced, const std::vector<std::uint16_t>& regions);
    ~Untraced();
    Untraced(const Untraced&) = delete;
    Untraced& operator=(const Untraced&) = delete;

    /// The other regions: their records must be left out.
    const std::vector<std::uint16_t>& left_out() const { return left_out_; }

private:
    bool done(abi::control::Command command, std::uint16_t region);

    std::optional<ControlPage> page_;
    std::vector<std::uint16_t> deselected_;
    std::vector<std::uint16_t> left_out_;
};

} // namespace mmioscope::guest
