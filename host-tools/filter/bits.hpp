// The bits of a field in an accessed register.
#pragma once

#include "mmioscope/event.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace mmioscope::filter {

/// The bits of `field` in the event's value. Nothing if the value is unknown, or if the access did
/// not include all of these bits. `event.reg()` must not be null.
std::optional<std::uint64_t> field_value(const Event& event, const Field& field);

/// The name of this value of the field in the description; empty if it has none.
std::string_view value_name(const Field& field, std::uint64_t value);

} // namespace mmioscope::filter
