#include "filter/field.hpp"

#include "lib/record_text.hpp"
#include "lib/ticks.hpp"

#include <algorithm>

namespace mmioscope::filter {

namespace {

using abi::RecordType;
using Number = NumberField::Number;
constexpr Number nothing{0, false};

// The value on the bus, or a marker's number; of other types `value` is something else.
Number value(const abi::Record& record, const Context&) {
    constexpr unsigned with_value =
        1u << unsigned(RecordType::access) | 1u << unsigned(RecordType::begin) |
        1u << unsigned(RecordType::own) | 1u << unsigned(RecordType::page_table_walk) |
        1u << unsigned(RecordType::marker);
    const auto type = static_cast<unsigned>(record.type);
    const bool known =
        type < 32 && (with_value >> type & 1) != 0 && (record.flags & abi::flag_value_unknown) == 0;
    return {record.value, known};
}

Number duration(const abi::Record& record, const Context& context) {
    const std::uint64_t ticks = record.duration; // below 2^32: the product fits 64 bits
    return context.frequency == 0 ? ticks : ticks * 1'000'000'000 / context.frequency;
}

Number time(const abi::Record& record, const Context& context) {
    return trace::nanoseconds(record.time - std::min(record.time, context.start),
                              context.frequency);
}

template <std::uint32_t abi::Record::*member>
Number number(const abi::Record& record, const Context&) {
    return record.*member;
}

// Of what only an access has.
template <std::uint32_t abi::Record::*member>
Number number_accessed(const abi::Record& record, const Context&) {
    return {record.*member, trace::has_place(record.type)};
}
template <std::uint64_t (*get)(const abi::Record&)>
Number accessed(const abi::Record& record, const Context&) {
    return {get(record), trace::has_place(record.type)};
}
std::uint64_t size(const abi::Record& record) {
    return abi::access_size(record);
}
std::uint64_t direction(const abi::Record& record) {
    return abi::is_write(record) ? 1 : 0;
}
std::uint64_t read(const abi::Record& record) {
    return abi::is_write(record) ? 0 : 1;
}
std::uint64_t virtual_address(const abi::Record& record) {
    return record.va;
}
std::uint64_t emulated(const abi::Record& record) {
    return (record.access & abi::access_emulated) != 0 ? 1 : 0;
}

Number offset(const abi::Record& record, const Context& context) {
    if (!trace::has_place(record.type)) {
        return nothing;
    }
    const std::uint64_t address = abi::physical_address(record);
    const std::uint64_t base =
        record.device < context.bases.size() ? context.bases[record.device] : 0;
    return address < base ? address : address - base;
}

Number offset_of(const Event& event) {
    return trace::has_place(event.record.type) ? Number(event.offset()) : nothing;
}
Number time_of(const Event& event) {
    return event.nanoseconds;
}

Number cpu(const abi::Record& record, const Context&) {
    return record.cpu;
}
Number type(const abi::Record& record, const Context&) {
    return static_cast<std::uint8_t>(record.type);
}

template <std::uint8_t bit>
Number flag(const abi::Record& record, const Context&) {
    return (record.flags & bit) != 0 ? 1 : 0;
}

Number mode(const abi::Record& record, const Context&) {
    return record.mode & 0x1fu;
}
Number thumb(const abi::Record& record, const Context&) {
    return (record.mode & abi::mode_thumb) != 0 ? 1 : 0;
}
Number user(const abi::Record& record, const Context&) {
    return (record.mode & 0x1fu) == 0x10 ? 1 : 0;
}

template <std::uint32_t Task::*member>
Number task(const Event& event) {
    const Task* const of = event.task();
    return of != nullptr ? Number(of->*member) : nothing;
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
    {"value", of_record<value>},
    {"offset", of_record<offset>, offset_of},
    {"pa", of_record<accessed<abi::physical_address>>},
    {"va", of_record<accessed<virtual_address>>, nullptr, Unit::none, {}, true},
    {"size", of_record<accessed<size>>},
    {"dir", of_record<accessed<direction>>, nullptr, Unit::words, directions},
    {"r", of_record<accessed<read>>},
    {"w", of_record<accessed<direction>>},
    {"cpu", of_record<cpu>},
    {"time", of_record<time>, time_of, Unit::time},
    {"duration", of_record<duration>, nullptr, Unit::time},
    {"type", of_record<type>, nullptr, Unit::words, types},
    {"pc", of_record<number_accessed<&abi::Record::pc>>, nullptr, Unit::none, {}, true},
    {"lr", of_record<number_accessed<&abi::Record::lr>>, nullptr, Unit::none, {}, true},
    {"sp", of_record<number_accessed<&abi::Record::sp>>, nullptr, Unit::none, {}, true},
    {"mode", of_record<mode>, nullptr, Unit::words, modes},
    {"user", of_record<user>},
    {"thumb", of_record<thumb>},
    {"pid", {}, task<&Task::pid>, Unit::none, {}, false, true},
    {"tgid", {}, task<&Task::tgid>, Unit::none, {}, false, true},
    {"seq", of_record<number<&abi::Record::cpu_sequence>>},
    {"order", of_record<number<&abi::Record::lock_sequence>>},
    {"emulated", of_record<accessed<emulated>>},
    {"unknown", of_record<flag<abi::flag_value_unknown>>},
    {"early", of_record<flag<abi::flag_early>>},
    {"boot", of_record<flag<abi::flag_boot>>},
    {"estimated", of_record<flag<abi::flag_estimated>>},
};

} // namespace

std::span<const NumberField> number_fields() {
    return fields;
}

} // namespace mmioscope::filter
