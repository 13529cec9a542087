// The columns of exports: those fields of an event (filter/field.hpp) that have one.
#pragma once

#include "file/trace_reader.hpp"
#include "filter/field.hpp"

#include <algorithm>
#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mmioscope::exporting {

using filter::field_words, filter::flag_words, filter::code_words, filter::source_words;
using filter::Number;
using filter::payload_words, filter::plain_text, filter::lone_field;
using table::Cell;
using table::Hex;
using trace::has_bus_value;
using trace::type_word;
using Column = filter::EventField;

inline constexpr auto columns = [] {
    constexpr auto is_column = [](const Column& field) { return !field.column.empty(); };
    std::array<Column, std::ranges::count_if(filter::fields, is_column)> all{};
    std::ranges::copy_if(filter::fields, all.begin(), is_column);
    return all;
}();
using ColumnSet = std::bitset<columns.size()>;

// CTF has columns, too: numbers in binary, and texts.

struct CtfMember {
    std::string_view type; ///< in TSDL
    Column column;

    /// 0: it is a text, and ends with a zero.
    constexpr std::size_t bytes() const {
        return type == "string"        ? 0
               : type == "device_name" ? 2
               : type.ends_with("64")  ? 8
               : type.ends_with("32")  ? 4
                                       : 1;
    }
};

namespace ctf_members_of {

using namespace filter::fields_of;

constexpr CtfMember member(std::string_view type, std::string_view column) {
    return {type, *std::ranges::find(columns, column, &Column::column)};
}
constexpr std::uint64_t value_known(const abi::Record& record, const filter::Context&) {
    return trace::has_bus_value(record) ? 1 : 0;
}

/// In their order, which is part of the format.
inline constexpr CtfMember members[] = {
    member("u32", "sequence"),
    member("string", "flags"),
    // only of what is lost
    {"u32", Column("first_sequence", {}, {}, record_number<number<&Record::cpu_sequence>>)},
    {"u64", Column("count", {}, {}, record_number<number<&Record::value>>)},
    // of the others
    {"device_name",
     Column("device", {}, {}, Of::context,
            [](E e) { return Number(e.device() == "-" ? abi::no_device : e.record.device); })},
    member("x64", "offset"),
    member("string", "register"),
    member("u8", "size"),
    member("x64", "value"),
    {"u8", Column("value_known", {}, {}, record_number<value_known>)},
    member("string", "fields"),
    {"x64", Column("address", {}, {}, record_number<physical_address>)},
    member("u64", "duration_ns"),
    member("u32", "order"),
    member("x32", "pc"),
    member("string", "function"),
    member("x32", "lr"),
    member("string", "caller"),
    member("x32", "sp"),
    member("x32", "va"),
    {"x8", Column("mode", {}, {}, Of::context, record_number<number<&Record::mode>>)},
    member("x32", "task"),
    member("u32", "pid"),
    member("string", "comm"),
    member("string", "interrupt"),
    member("string", "text"),
    // Of::text: flags are no longer beside it
    {"string",
     Column("payload", {}, {}, Of::text, In::all, [](E e) { return words(payload_words(e)); })},
    member("string", "note"),
};

} // namespace ctf_members_of

inline constexpr auto& ctf_members = ctf_members_of::members;
inline constexpr auto ctf_columns = [] {
    std::array<Column, std::size(ctf_members)> all{};
    std::ranges::transform(ctf_members, all.begin(), &CtfMember::column);
    return all;
}();
inline constexpr std::size_t ctf_context = 2;   ///< the members before this one are of all events
inline constexpr std::size_t ctf_lost_ends = 4; ///< from there on they are not of what is lost

/// Whether events of a kind have this member.
constexpr bool ctf_has(abi::RecordType type, std::size_t member) {
    const bool lost = type == abi::RecordType::gap;
    const Column& column = ctf_columns[member];
    constexpr std::string_view of_code[] = {"pc", "function", "caller", "sp", "task"};
    return member < ctf_context || (lost && member < ctf_lost_ends) ||
           (!lost && member >= ctf_lost_ends &&
            (trace::has_place(type) || column.in == Column::In::all ||
             (trace::has_instruction(type) &&
              std::ranges::find(of_code, column.column) != std::end(of_code)) ||
             (column.column == "value" && trace::kind_of(type).value != trace::ValueIs::none)));
}

/// The cells of a trace's events.
struct Cells {
    Cells() = default;
    /// `frequency` is that of the trace's counter, in Hz.
    Cells(const ColumnSet& known, std::uint32_t frequency)
        : known(known), context{trace::TickLength(frequency)} {}
    explicit Cells(const trace::TraceReader& reader);

    Cell of(std::size_t column, const Event& event) const;

    ColumnSet known; ///< the columns that the trace can fill; the others stay empty
    filter::Context context;
};

} // namespace mmioscope::exporting
