// The call that a return address stands behind, as the guest's memory has it.
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
