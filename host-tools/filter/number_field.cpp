#include "filter/field.hpp"

#include "records/record_text.hpp"
#include "records/ticks.hpp"

#include <algorithm>

namespace mmioscope::filter {

namespace {

using abi::RecordType;
using Number = NumberField::Number;
constexpr Number nothing{0, false};

std::uint64_t value(const abi::Record& record, const Context&) {
    return record.value;
}
// A value on the bus, or a marker's number; in other types `value` means something else.
bool has_value(const abi::Record& record) {
    constexpr unsigned with_value =
        1u << unsigned(RecordType::access) | 1u << unsigned(RecordType::begin) |
        1u << unsigned(RecordType::own) | 1u << unsigned(RecordType::page_table_walk) |
        1u << unsigned(RecordType::marker);
    const auto type = static_cast<unsigned>(record.type);
    return type < 32 && (with_value >> type & 1) != 0 &&
           (record.flags & abi::flag_value_unknown) == 0;
}

bool has_place(const abi::Record& record) {
    return trace::has_place(record.type);
}

std::uint64_t duration(const abi::Record& record, const Context& context) {
    return trace::nanoseconds(record.duration, context.frequency);
}

std::uint64_t time(const abi::Record& record, const Context& context) {
    return trace::nanoseconds(record.time - std::min(record.time, context.start),
                              context.frequency);
}

template <std::uint32_t abi::Record::*member>
std::uint64_t number(const abi::Record& record, const Context&) {
    return record.*member;
}
template <std::uint8_t abi::Record::*member, std::uint8_t mask>
std::uint64_t bits(const abi::Record& record, const Context&) {
    return record.*member & mask;
}
template <std::uint8_t abi::Record::*member, std::uint8_t mask>
std::uint64_t is_set(const abi::Record& record, const Context&) {
    return (record.*member & mask) != 0 ? 1 : 0;
}

std::uint64_t physical_address(const abi::Record& record, const Context&) {
    return abi::physical_address(record);
}
std::uint64_t size(const abi::Record& record, const Context&) {
    return abi::access_size(record);
}
constexpr auto direction = is_set<&abi::Record::access, abi::access_write>;
std::uint64_t read(const abi::Record& record, const Context&) {
    return abi::is_write(record) ? 0 : 1;
}

std::uint64_t offset(const abi::Record& record, const Context& context) {
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

std::uint64_t cpu(const abi::Record& record, const Context&) {
    return record.cpu;
}
std::uint64_t type(const abi::Record& record, const Context&) {
    return static_cast<std::uint8_t>(record.type);
}
std::uint64_t user(const abi::Record& record, const Context&) {
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
    {"payload", 15},
};

// CPSR.M (ARM ARM B1.3.1).
constexpr NumberField::Word modes[] = {
    {"usr", 0x10}, {"user", 0x10}, {"fiq", 0x11}, {"irq", 0x12}, {"svc", 0x13},
    {"mon", 0x16}, {"abt", 0x17},  {"hyp", 0x1a}, {"und", 0x1b}, {"sys", 0x1f},
};

using Unit = NumberField::Unit;
using pack::Column;

constexpr NumberField number_rows[] = {
    {"value", of_record<value, has_value, Column::value>},
    {"offset", of_record<offset, has_place>, offset_of},
    {"pa", of_record<physical_address, has_place>},
    {"va", of_record<number<&abi::Record::va>, has_place>, nullptr, Unit::none, {}, true},
    {"size", of_record<size, has_place>},
    {"dir", of_record<direction, has_place>, nullptr, Unit::words, directions},
    {"r", of_record<read, has_place>},
    {"w", of_record<direction, has_place>},
    {"cpu", of_record<cpu>},
    {"time", of_record<time, has_always, Column::time>, time_of, Unit::time},
    {"duration", of_record<duration, has_always, Column::time>, nullptr, Unit::time},
    {"type", of_record<type>, nullptr, Unit::words, types},
    {"pc", of_record<number<&abi::Record::pc>, has_place>, nullptr, Unit::none, {}, true},
    {"lr",
     of_record<number<&abi::Record::lr>, has_place, Column::lr>,
     nullptr,
     Unit::none,
     {},
     true},
    {"sp",
     of_record<number<&abi::Record::sp>, has_place, Column::frame>,
     nullptr,
     Unit::none,
     {},
     true},
    {"mode", of_record<bits<&abi::Record::mode, 0x1f>>, nullptr, Unit::words, modes},
    {"user", of_record<user>},
    {"thumb", of_record<is_set<&abi::Record::mode, abi::mode_thumb>>},
    {"pid", {}, task<&Task::pid>, Unit::none, {}, false, true},
    {"tgid", {}, task<&Task::tgid>, Unit::none, {}, false, true},
    {"seq", of_record<number<&abi::Record::cpu_sequence>, has_always, Column::sequence>},
    {"order", of_record<number<&abi::Record::lock_sequence>, has_always, Column::sequence>},
    {"emulated", of_record<is_set<&abi::Record::access, abi::access_emulated>, has_place>},
    {"unknown", of_record<is_set<&abi::Record::flags, abi::flag_value_unknown>>},
    {"early", of_record<is_set<&abi::Record::flags, abi::flag_early>>},
    {"boot", of_record<is_set<&abi::Record::flags, abi::flag_boot>>},
    {"estimated", of_record<is_set<&abi::Record::flags, abi::flag_estimated>>},
};

} // namespace

std::span<const NumberField> number_fields() {
    return number_rows;
}

} // namespace mmioscope::filter
