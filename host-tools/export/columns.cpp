#include "export/columns.hpp"
#include "lib/ticks.hpp"

#include "export/words.hpp"
#include "lib/record_text.hpp"

#include <array>

namespace mmioscope::exporting {

using abi::RecordType;

namespace {

Cell when(bool known, Cell cell) {
    return known ? std::move(cell) : Cell();
}

// Zero stands for an address that nobody knows.
Cell address(const Event& e, std::uint32_t value) {
    return when(trace::has_place(e.record.type) && value != 0, Hex{value});
}

Cell words(std::string text) {
    return text.empty() ? Cell() : Cell(std::move(text));
}

Cell view(std::string_view text) {
    return text.empty() ? Cell() : Cell(text);
}

// Of those without a place: the number of an interrupt or a marker, the power event.
Cell value(const Event& e) {
    const abi::Record& r = e.record;
    const bool bare = r.type == RecordType::interrupt || r.type == RecordType::marker ||
                      r.type == RecordType::configuration || r.type == RecordType::power ||
                      r.type == RecordType::fault;
    return when(bare || has_bus_value(r), Hex{r.value});
}

bool placed(const Event& e) {
    return trace::has_place(e.record.type);
}

bool carried_out(const Event& e) {
    return placed(e) && e.record.type != RecordType::begin;
}

using Of = Column::Of;

constexpr std::array<Column, 30> all = {{
    {"ns", [](const Event& e, std::uint32_t) -> Cell { return e.nanoseconds; }},
    {"ticks", [](const Event& e, std::uint32_t) -> Cell { return e.record.time; }},
    {"cpu", [](const Event& e, std::uint32_t) -> Cell { return std::uint64_t{e.record.cpu}; }},
    {"type", [](const Event& e, std::uint32_t) -> Cell { return type_word(e.record.type); },
     Of::context},
    {"dir",
     [](const Event& e, std::uint32_t) {
         return when(placed(e), std::string_view(abi::is_write(e.record) ? "w" : "r"));
     },
     Of::context},
    {"size",
     [](const Event& e, std::uint32_t) {
         return when(placed(e), std::uint64_t{abi::access_size(e.record)});
     },
     Of::context},
    {"device",
     [](const Event& e, std::uint32_t) {
         return when(e.record.device != abi::no_device && e.device() != "-", e.device());
     },
     Of::context},
    {"offset", [](const Event& e, std::uint32_t) { return when(placed(e), Hex{e.offset()}); },
     Of::context},
    {"address",
     [](const Event& e, std::uint32_t) {
         return when(placed(e), Hex{abi::physical_address(e.record)});
     },
     Of::context},
    {"register",
     [](const Event& e, std::uint32_t) {
         return e.reg() == nullptr ? Cell() : Cell(std::string_view(e.reg()->name));
     },
     Of::context},
    {"value", [](const Event& e, std::uint32_t) { return value(e); }},
    {"fields", [](const Event& e, std::uint32_t) { return words(field_words(e)); }, Of::value},
    {"duration_ns",
     [](const Event& e, std::uint32_t frequency) {
         return when(carried_out(e), trace::nanoseconds(e.record.duration, frequency));
     }},
    {"pc", [](const Event& e, std::uint32_t) { return address(e, e.record.pc); }, Of::context},
    {"function", [](const Event& e, std::uint32_t) { return words(code_words(e.code())); },
     Of::context},
    {"source", [](const Event& e, std::uint32_t) { return words(source_words(e.code())); },
     Of::context},
    {"lr", [](const Event& e, std::uint32_t) { return address(e, e.record.lr); }},
    {"caller", [](const Event& e, std::uint32_t) { return words(code_words(e.caller())); },
     Of::context},
    {"sp", [](const Event& e, std::uint32_t) { return address(e, e.record.sp); }},
    {"va", [](const Event& e, std::uint32_t) { return address(e, e.record.va); }},
    {"mode",
     [](const Event& e, std::uint32_t) {
         return when(placed(e) && e.record.mode != 0, mode_word(e.record.mode));
     },
     Of::context},
    {"task", [](const Event& e, std::uint32_t) { return address(e, e.record.task); }, Of::context},
    {"pid",
     [](const Event& e, std::uint32_t) {
         return e.task() == nullptr ? Cell() : Cell(std::uint64_t{e.task()->pid});
     },
     Of::context},
    {"comm",
     [](const Event& e, std::uint32_t) {
         return e.task() == nullptr ? Cell() : Cell(std::string_view(e.task()->comm));
     },
     Of::context},
    {"interrupt", [](const Event& e, std::uint32_t) { return view(e.interrupt()); }},
    {"text", [](const Event& e, std::uint32_t) { return view(plain_text(e.text())); }},
    {"lost", [](const Event& e,
                std::uint32_t) { return when(e.record.type == RecordType::gap, e.record.value); }},
    {"sequence",
     [](const Event& e, std::uint32_t) -> Cell { return std::uint64_t{e.record.cpu_sequence}; }},
    {"order", [](const Event& e,
                 std::uint32_t) { return when(placed(e), std::uint64_t{e.record.lock_sequence}); }},
    {"flags", [](const Event& e, std::uint32_t) { return words(flag_words(e.record)); }, Of::flags},
}};

} // namespace

std::span<const Column> columns() {
    return all;
}

// A unit behind '_' is of the column, not of what it is called.
std::vector<Column> columns_of(const trace::TraceReader& reader) {
    std::vector<Column> known(all.begin(), all.end());
    for (Column& column : known) {
        if (!reader.knows(column.name.substr(0, column.name.find('_')))) {
            column.cell = [](const Event&, std::uint32_t) { return Cell(); };
        }
    }
    return known;
}

} // namespace mmioscope::exporting
