#include "filter/field.hpp"

#include "lib/record_text.hpp"

namespace mmioscope::filter {

namespace {

using abi::RecordType;
using Number = std::optional<std::uint64_t>;

// The value on the bus, or a marker's number; of other types `value` is something else.
Number value(const Event& event, std::uint32_t) {
    switch (event.record.type) {
    case RecordType::access:
    case RecordType::begin:
    case RecordType::own:
    case RecordType::page_table_walk:
    case RecordType::marker: break;
    default: return std::nullopt;
    }
    if ((event.record.flags & abi::flag_value_unknown) != 0) {
        return std::nullopt;
    }
    return event.record.value;
}

Number duration(const Event& event, std::uint32_t frequency) {
    const std::uint64_t ticks = event.record.duration; // below 2^32: the product fits 64 bits
    return frequency == 0 ? ticks : ticks * 1'000'000'000 / frequency;
}

template <std::uint32_t abi::Record::*member>
Number number(const Event& event, std::uint32_t) {
    return event.record.*member;
}

// Of what only an access has.
template <std::uint32_t abi::Record::*member>
Number number_accessed(const Event& event, std::uint32_t) {
    return trace::has_place(event.record.type) ? Number(event.record.*member) : std::nullopt;
}
template <std::uint64_t (*get)(const Event&)>
Number accessed(const Event& event, std::uint32_t) {
    return trace::has_place(event.record.type) ? Number(get(event)) : std::nullopt;
}
std::uint64_t size(const Event& event) {
    return abi::access_size(event.record);
}
std::uint64_t direction(const Event& event) {
    return abi::is_write(event.record) ? 1 : 0;
}
std::uint64_t read(const Event& event) {
    return abi::is_write(event.record) ? 0 : 1;
}
std::uint64_t virtual_address(const Event& event) {
    return event.record.va;
}
std::uint64_t physical_address(const Event& event) {
    return abi::physical_address(event.record);
}
std::uint64_t offset(const Event& event) {
    return event.offset();
}
std::uint64_t emulated(const Event& event) {
    return (event.record.access & abi::access_emulated) != 0 ? 1 : 0;
}

template <std::uint8_t bit>
Number flag(const Event& event, std::uint32_t) {
    return (event.record.flags & bit) != 0 ? 1 : 0;
}

Number mode(const Event& event, std::uint32_t) {
    return event.record.mode & 0x1fu;
}
Number thumb(const Event& event, std::uint32_t) {
    return (event.record.mode & abi::mode_thumb) != 0 ? 1 : 0;
}
Number user(const Event& event, std::uint32_t) {
    return (event.record.mode & 0x1fu) == 0x10 ? 1 : 0;
}

template <std::uint32_t Task::*member>
Number task(const Event& event, std::uint32_t) {
    return event.task() != nullptr ? Number(event.task()->*member) : std::nullopt;
}

constexpr NumberField::Word directions[] = {{"r", 0}, {"w", 1}, {"read", 0}, {"write", 1}};

constexpr NumberField::Word types[] = {
    {"access", 1},
    {"begin", 2},
    {"own", 3},
    {"gap", 4},
    {"marker", 5},
    {"mark", 5},
    {"change", 6},
    {"configuration", 6},
    {"interrupt", 7},
    {"fetch", 8},
    {"cache", 9},
    {"maintenance", 9},
    {"page-table-walk", 10},
    {"walk", 10},
    {"fault", 11},
    {"power", 12},
    {"fold", 13},
    {"task", 14},
};

// CPSR.M (ARM ARM B1.3.1).
constexpr NumberField::Word modes[] = {
    {"usr", 0x10}, {"user", 0x10}, {"fiq", 0x11}, {"irq", 0x12}, {"svc", 0x13},
    {"mon", 0x16}, {"abt", 0x17},  {"hyp", 0x1a}, {"und", 0x1b}, {"sys", 0x1f},
};

using Unit = NumberField::Unit;

constexpr NumberField fields[] = {
    {"value", value},
    {"offset", accessed<offset>},
    {"pa", accessed<physical_address>},
    {"va", accessed<virtual_address>, Unit::none, {}, true},
    {"size", accessed<size>},
    {"dir", accessed<direction>, Unit::words, directions},
    {"r", accessed<read>},
    {"w", accessed<direction>},
    {"cpu", [](const Event& event, std::uint32_t) { return Number(event.record.cpu); }},
    {"time", [](const Event& event, std::uint32_t) { return Number(event.nanoseconds); },
     Unit::time},
    {"duration", duration, Unit::time},
    {"type",
     [](const Event& event, std::uint32_t) {
         return Number(static_cast<std::uint8_t>(event.record.type));
     },
     Unit::words, types},
    {"pc", number_accessed<&abi::Record::pc>, Unit::none, {}, true},
    {"lr", number_accessed<&abi::Record::lr>, Unit::none, {}, true},
    {"sp", number_accessed<&abi::Record::sp>, Unit::none, {}, true},
    {"mode", mode, Unit::words, modes},
    {"user", user},
    {"thumb", thumb},
    {"pid", task<&Task::pid>},
    {"tgid", task<&Task::tgid>},
    {"seq", number<&abi::Record::cpu_sequence>},
    {"order", number<&abi::Record::lock_sequence>},
    {"emulated", accessed<emulated>},
    {"unknown", flag<abi::flag_value_unknown>},
    {"early", flag<abi::flag_early>},
    {"boot", flag<abi::flag_boot>},
    {"estimated", flag<abi::flag_estimated>},
};

} // namespace

std::span<const NumberField> number_fields() {
    return fields;
}

} // namespace mmioscope::filter
