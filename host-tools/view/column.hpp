// The columns of event lines that a user can choose.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace mmioscope::view {

/// In the order of the usual line.
enum class Column : std::uint8_t {
    time,
    cpu,
    rw, ///< direction and size
    device,
    reg,
    value,
    fields,   ///< what the value means
    function, ///< of the guest's code, or the PC
    caller,
    task,
    duration,
};

/// Their names, in the same order.
inline constexpr std::array<std::string_view, 11> column_names = {
    "time",   "cpu",      "rw",     "device", "reg",     "value",
    "fields", "function", "caller", "task",   "duration"};

} // namespace mmioscope::view
