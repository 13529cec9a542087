// An event as columns of text, for JSONL and CSV. Names and order are part of both formats; columns
// may be added at the end.
#pragma once

#include "export/record_words.hpp"
#include "file/trace_reader.hpp"
#include "mmioscope/event.hpp"
#include "records/kinds.hpp"
#include "records/ticks.hpp"
#include "table/table.hpp"

#include <array>
#include <bitset>
#include <cstdint>
#include <string_view>

namespace mmioscope::exporting {

using table::Cell;
using table::Hex;

/// A cell that holds a number or nothing.
struct Number {
    enum class As : std::uint8_t { nothing, decimal, hex };
    As as = As::nothing;
    std::uint64_t value = 0;
};

struct Column {
    /// What a cell depends on.
    enum class Of {
        number,    ///< the event; a Number
        time,      ///< the event; a number that grows slowly
        of_cpu,    ///< Record::cpu_sequence
        of_device, ///< Record::lock_sequence; a number or nothing
        text,      ///< Event::text_id()
        interrupt, ///< Event::interrupt_id()
        context,   ///< only Event::context() of an access
        stack,     ///< Record::sp or va; a Number, mostly the same in a context
        value,     ///< the value of an access, and its place
        flags,     ///< Record::flags and Record::access; so do accesses without a payload
    };
    /// Which events of Perfetto have it as an argument: none, because tracks and names say it, or
    /// it is of little use there; slices of accesses, and what is no access; or all instants.
    enum class In : std::uint8_t { none, slices, all };
    /// `tick` is that of the trace's clock.
    using NumberOf = Number (*)(const Event& event, const trace::TickLength& tick);
    using CellOf = Cell (*)(const Event& event, const trace::TickLength& tick);

    constexpr Column(std::string_view name, NumberOf number, Of of = Of::number, In in = In::slices)
        : name(name), of(of), in(in), number_of(number) {}
    constexpr Column(std::string_view name, CellOf cell, Of of, In in = In::slices)
        : name(name), of(of), in(in), cell_of(cell) {}

    Cell cell(const Event& event, const trace::TickLength& tick) const;

    std::string_view name;
    Of of;
    In in;
    NumberOf number_of = nullptr; ///< null: not all cells are numbers
    CellOf cell_of = nullptr;     ///< null: all cells are numbers
};

/// The text of a cell; empty: it holds none.
inline std::string_view text_in(const Cell& cell) {
    const auto* const view = std::get_if<std::string_view>(&cell);
    const auto* const text = std::get_if<std::string>(&cell);
    return view != nullptr ? *view : text != nullptr ? *text : std::string_view();
}

namespace cells {

constexpr Number decimal(std::uint64_t value, bool known = true) {
    return known ? Number{Number::As::decimal, value} : Number();
}

constexpr Number hex(std::uint64_t value, bool known) {
    return known ? Number{Number::As::hex, value} : Number();
}

constexpr bool placed(const Event& e) {
    return trace::has_place(e.record.type);
}

constexpr bool carried_out(const Event& e) {
    return placed(e) && e.record.type != abi::RecordType::begin;
}

// 0 means an unknown address.
constexpr Number address(const Event& e, std::uint32_t value) {
    return hex(value, placed(e) && value != 0);
}

inline Cell words(std::string text) {
    return text.empty() ? Cell() : Cell(std::move(text));
}

inline Cell view(std::string_view text) {
    return text.empty() ? Cell() : Cell(text);
}

using Of = Column::Of;
using In = Column::In;
using Tick = const trace::TickLength&;

inline constexpr std::array<Column, 31> columns = {{
    {"ns", [](const Event& e, Tick) { return decimal(e.nanoseconds); }, Of::time, In::none},
    {"ticks", [](const Event& e, Tick) { return decimal(e.record.time); }, Of::time, In::none},
    {"cpu", [](const Event& e, Tick) { return decimal(e.record.cpu); }},
    {"type", [](const Event& e, Tick) { return view(type_word(e.record.type)); }, Of::context,
     In::none},
    {"dir",
     [](const Event& e, Tick) {
         return placed(e) ? view(abi::is_write(e.record) ? "w" : "r") : Cell();
     },
     Of::context, In::none},
    {"size", [](const Event& e, Tick) { return decimal(abi::access_size(e.record), placed(e)); },
     Of::context, In::none},
    {"device",
     [](const Event& e, Tick) {
         return e.record.device != abi::no_device && e.device() != "-" ? Cell(e.device()) : Cell();
     },
     Of::context, In::none},
    {"offset", [](const Event& e, Tick) { return hex(e.offset(), placed(e)); }, Of::context,
     In::none},
    {"address",
     [](const Event& e, Tick) { return hex(abi::physical_address(e.record), placed(e)); },
     Of::context},
    {"register",
     [](const Event& e, Tick) {
         return e.reg() == nullptr ? Cell() : Cell(std::string_view(e.reg()->name));
     },
     Of::context, In::none},
    {"value", [](const Event& e, Tick) { return hex(e.record.value, trace::has_value(e.record)); }},
    {"fields", [](const Event& e, Tick) { return words(field_words(e)); }, Of::value},
    {"duration_ns",
     [](const Event& e, Tick tick) {
         return decimal(tick.nanoseconds(e.record.duration), carried_out(e));
     }},
    {"pc", [](const Event& e, Tick) { return address(e, e.record.pc); }, Of::context},
    {"function", [](const Event& e, Tick) { return words(code_words(e.code())); }, Of::context},
    {"source", [](const Event& e, Tick) { return words(source_words(e.code())); }, Of::context,
     In::none},
    {"lr", [](const Event& e, Tick) { return address(e, e.record.lr); }, Of::number, In::none},
    {"caller", [](const Event& e, Tick) { return words(code_words(e.caller())); }, Of::context},
    {"sp", [](const Event& e, Tick) { return address(e, e.record.sp); }, Of::stack, In::none},
    {"va", [](const Event& e, Tick) { return address(e, e.record.va); }, Of::stack, In::none},
    {"mode",
     [](const Event& e, Tick) {
         return placed(e) && e.record.mode != 0 ? words(mode_word(e.record.mode)) : Cell();
     },
     Of::context, In::none},
    {"task", [](const Event& e, Tick) { return address(e, e.record.task); }, Of::context},
    {"pid",
     [](const Event& e, Tick) { return e.task() == nullptr ? Number() : decimal(e.task()->pid); },
     Of::context},
    {"comm",
     [](const Event& e, Tick) {
         return e.task() == nullptr ? Cell() : Cell(std::string_view(e.task()->comm));
     },
     Of::context},
    {"interrupt", [](const Event& e, Tick) { return view(e.interrupt()); }, Of::interrupt},
    {"text", [](const Event& e, Tick) { return view(plain_text(e.text())); }, Of::text, In::all},
    {"lost",
     [](const Event& e, Tick) {
         return decimal(e.record.value, e.record.type == abi::RecordType::gap);
     },
     Of::number, In::all},
    {"sequence", [](const Event& e, Tick) { return decimal(e.record.cpu_sequence); }, Of::of_cpu,
     In::all},
    {"order", [](const Event& e, Tick) { return decimal(e.record.lock_sequence, placed(e)); },
     Of::of_device},
    {"flags", [](const Event& e, Tick) { return words(flag_words(e.record)); }, Of::flags, In::all},
    {"payload", [](const Event& e, Tick) { return words(payload_words(e)); }, Of::flags, In::all},
}};

} // namespace cells

using cells::columns;
using ColumnSet = std::bitset<columns.size()>;

/// The columns that a trace can fill; the others stay empty.
ColumnSet known_columns(const trace::TraceReader& reader);

} // namespace mmioscope::exporting
