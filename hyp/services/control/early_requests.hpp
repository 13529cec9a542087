// The boot loader's requests (mmioscope,requests).
#pragma once

#include "abi/chosen.hpp"
#include "base/fixed_vector.hpp"
#include "dt/tree.hpp"

namespace mmioscope {

/// A request to carry out before the guest runs, as in the device tree; not checked.
struct EarlyRequest {
    std::uint32_t command;
    std::uint32_t argument[2];
};
using EarlyRequests = FixedVector<EarlyRequest, abi::chosen::max_requests>;

/// Reads mmioscope,requests.
BootError read_requests(const Tree& tree, EarlyRequests& requests);

} // namespace mmioscope
