// The call before a return address, as it is in the guest's memory.
#pragma once

#include "linux/address_space.hpp"

#include <cstdint>
#include <optional>

namespace mmioscope::linux_guest {

struct Call {
    std::optional<std::uint32_t> target; ///< nothing: a register tells it
};

/// The call whose return address, with the Thumb bit, is `address`; nothing if no call stands in
/// front of it.
std::optional<Call> call_before(const AddressSpace& space, std::uint32_t address);

} // namespace mmioscope::linux_guest
