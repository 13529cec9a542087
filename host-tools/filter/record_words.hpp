// Words for the numbers of a record in exports. They are part of the formats, and do not change.
#pragma once

#include "mmioscope/event.hpp"
#include "records/kinds.hpp"

#include <string>
#include <string_view>

namespace mmioscope::filter {

using trace::has_bus_value;
using trace::type_word;

/// "svc", "usr thumb", ...
std::string mode_word(std::uint8_t mode);

/// The record's flags, separated by spaces: value_unknown early same_instruction boot estimated
/// payload sign_extended syndrome emulated.
std::string flag_words(const abi::Record& record);

/// "pl011_console_putchar+0x1c", "mmci_irq+0x8 [armmmci]"; empty for null.
std::string code_words(const Location* code);

/// "pl011.c:1456" of the innermost function; empty if unknown.
std::string source_words(const Location* code);

/// "TXFF=1 RXFE=empty": each field of the register by name; empty if unknown.
std::string field_words(const Event& event);

/// The only field that field_words() can show in the event's context, if its values have no names
/// and appear as "0x.."; null otherwise.
const Field* lone_field(const Event& event);

/// The payload in hexadecimal, with ".." where a part is missing; empty: it has none.
std::string payload_words(const Event& event);

/// The text of a marker without its quotes; other texts unchanged.
std::string_view plain_text(std::string_view text);

} // namespace mmioscope::filter
