// The words for numbers of a record in exports. They are part of the formats, and do not change.
#pragma once

#include "mmioscope/event.hpp"

#include <string>
#include <string_view>

namespace mmioscope::exporting {

/// "access", "begin", "own", "lost", "marker", ...; "unknown" for types newer than this program.
std::string_view type_word(abi::RecordType type);

/// Whether `value` is what was loaded or stored.
constexpr bool has_bus_value(const abi::Record& record) {
    const bool carries =
        record.type == abi::RecordType::access || record.type == abi::RecordType::begin ||
        record.type == abi::RecordType::own || record.type == abi::RecordType::page_table_walk;
    return carries && (record.flags & abi::flag_value_unknown) == 0;
}

/// "svc", "usr thumb", ...
std::string mode_word(std::uint8_t mode);

/// What holds of the record, with a space between: value_unknown early same_instruction boot
/// estimated sign_extended syndrome emulated.
std::string flag_words(const abi::Record& record);

/// "pl011_console_putchar+0x1c", "mmci_irq+0x8 [armmmci]"; empty for null.
std::string code_words(const Location* code);

/// "pl011.c:1456" of the innermost function; empty if that is not known.
std::string source_words(const Location* code);

/// "TXFF=1 RXFE=empty": each field of the register by name; empty for what is not known.
std::string field_words(const Event& event);

/// The only field that field_words() can have of the event's context, if values of it have no names
/// and stand there as "0x..", null otherwise.
const Field* lone_field(const Event& event);

/// The text of a marker without its quotes; other texts as they are.
std::string_view plain_text(std::string_view text);

} // namespace mmioscope::exporting
