// Parts of an event as text, from which lines are made.
#pragma once

#include "mmioscope/event.hpp"
#include "view/line_style.hpp"

#include <string>
#include <string_view>

namespace mmioscope::view {

namespace color {
inline constexpr std::string_view read = "32", write = "33", bad = "31", code = "36", mark = "1";
} // namespace color

/// `text` in a color if `style` has colors.
std::string colored(const LineStyle& style, std::string_view color, std::string_view text);

/// "R2", "W4".
std::string direction_text(const abi::Record& record);

/// The register, or the offset: "FR", "+0x018".
std::string register_or_offset(const LineStyle& style, const Event& event);

/// The meaning of the value: its fields, and the interrupt that it names.
std::string meaning_text(const Event& event);

/// Function or PC, mode, and `<-` caller, after a blank; or empty.
std::string code_of(const LineStyle& style, const Event& event);

/// "[sh:9]", or the task's address, after a blank; or empty.
std::string task_of(const LineStyle& style, const Event& event);

/// For a begin record whose access has no end there.
std::string_view begun_text(const LineStyle& style);

/// "<0.000001234>".
std::string duration_text(const LineStyle& style, const abi::Record& record);

bool value_known(const Event& event);

/// "pl011_putc+0x18", "open+0x4 [mmci]".
std::string code_text(const Location& location);

/// The function, or "[mmci]" if only the module is known.
std::string function_text(const Location& location);

} // namespace mmioscope::view
