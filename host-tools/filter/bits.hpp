// Some bits of a register that was accessed.
#pragma once

#include "mmioscope/event.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace mmioscope::filter {

/// The bits of `field` in the event's value. Nothing if the value is not known, or the access was
/// of a part of the register that does not hold all of them. `event.reg()` is not null.
std::optional<std::uint64_t> field_value(const Event& event, const Field& field);

/// What the description calls a field with this value; empty if it has no name for it.
std::string_view value_name(const Field& field, std::uint64_t value);

} // namespace mmioscope::filter
