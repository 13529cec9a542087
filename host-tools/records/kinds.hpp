// The kinds of records: one row for each. What differs by kind is here, not where it is used:
// filters, exports, printed words, the index and `--no-pc` read the rows.
#pragma once

#include "abi/record.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mmioscope::trace {

/// What Record::value is.
enum class ValueIs : std::uint8_t {
    none,   ///< or a part of a text, or bytes
    on_bus, ///< what was loaded or stored, unless flag_value_unknown
    number, ///< a number of its own: a marker's, an interrupt's
    code,   ///< a command, event or reason, encoded as in hyp/abi/
    count,  ///< of records
};

/// What of a record tells about the guest's code, and is zero for a reader who must not know it.
enum class Hide : std::uint8_t {
    everything, ///< pc, lr, sp, va, and all that may be anything
    addresses,  ///< pc, lr, sp, va, and the physical address
    context,    ///< pc, lr, sp, va
    nothing,    ///< these fields have other uses
};

struct Kind {
    std::string_view word = {};                    ///< in all outputs and in filters
    std::array<std::string_view, 2> synonyms = {}; ///< filters take them, too; empty: none
    ValueIs value = ValueIs::none;
    Hide hide = Hide::everything;
    bool place = false;   ///< has an address and an instruction
    bool reg = false;     ///< ... and its address may be a register's
    bool teaches = false; ///< later records may depend on it: it names something, or begins a text
};

/// The row of a type; one without a word for a type newer than this program. No `default`: the
/// compiler misses a type that has no row.
constexpr Kind row_of(abi::RecordType type) {
    using abi::RecordType;
    using enum ValueIs;
    using enum Hide;
    switch (type) {
    case RecordType::none: return {};
    case RecordType::access:
        return {.word = "access", .value = on_bus, .hide = context, .place = true, .reg = true};
    case RecordType::begin:
        return {.word = "begin", .value = on_bus, .hide = context, .place = true, .reg = true};
    case RecordType::own:
        return {.word = "own", .value = on_bus, .hide = context, .place = true, .reg = true};
    case RecordType::gap:
        return {.word = "lost", .synonyms = {"gap"}, .value = count, .hide = context};
    case RecordType::marker:
        return {.word = "marker",
                .synonyms = {"mark"},
                .value = number,
                .hide = context,
                .teaches = true};
    case RecordType::configuration:
        return {.word = "change", .synonyms = {"configuration"}, .value = code, .hide = context};
    case RecordType::interrupt: return {.word = "interrupt", .value = number, .hide = context};
    case RecordType::fetch: return {.word = "fetch", .hide = addresses, .place = true};
    case RecordType::maintenance:
        return {.word = "cache", .synonyms = {"maintenance"}, .hide = context, .place = true};
    case RecordType::page_table_walk:
        return {.word = "table_walk",
                .synonyms = {"walk", "page-table-walk"},
                .value = on_bus,
                .hide = context,
                .place = true};
    case RecordType::fault:
        return {.word = "fault", .value = code, .hide = context, .place = true, .reg = true};
    case RecordType::power: return {.word = "power", .value = code, .hide = addresses};
    case RecordType::fold: return {.word = "fold", .value = count, .hide = context};
    case RecordType::task: return {.word = "task", .hide = nothing, .teaches = true};
    case RecordType::payload: return {.word = "payload", .hide = everything};
    }
    return {};
}

/// All rows, by type.
inline constexpr std::array<Kind, 64> kinds = [] {
    std::array<Kind, 64> rows;
    for (std::size_t type = 0; type < rows.size(); ++type) {
        rows[type] = row_of(static_cast<abi::RecordType>(type));
    }
    return rows;
}();

constexpr const Kind& kind_of(abi::RecordType type) {
    constexpr std::size_t none = 0;
    const auto index = static_cast<std::size_t>(type);
    return kinds[index < kinds.size() ? index : none];
}

/// Some types, as a set of bits: for paths that all records pass.
class KindSet {
public:
    template <typename Holds>
    explicit constexpr KindSet(const Holds& holds) {
        for (std::size_t type = 0; type < kinds.size(); ++type) {
            bits_ |= std::uint64_t{holds(kinds[type])} << type;
        }
    }
    constexpr bool has(abi::RecordType type) const {
        const auto index = static_cast<unsigned>(type);
        return index < kinds.size() && (bits_ >> index & 1) != 0;
    }
    constexpr bool has_any(KindSet other) const { return (bits_ & other.bits_) != 0; }
    constexpr void add(abi::RecordType type) {
        const auto index = static_cast<unsigned>(type);
        bits_ |= std::uint64_t{index < kinds.size()} << index % kinds.size();
    }

private:
    std::uint64_t bits_ = 0;
};

/// "access", "lost", ...; "unknown" for types newer than this program.
constexpr std::string_view type_word(abi::RecordType type) {
    const std::string_view word = kind_of(type).word;
    return word.empty() ? "unknown" : word;
}

/// Whether records of this type have an address and an instruction.
constexpr bool has_place(abi::RecordType type) {
    constexpr KindSet placed([](const Kind& kind) { return kind.place; });
    return placed.has(type);
}

inline constexpr KindSet teaching([](const Kind& kind) { return kind.teaches; });
constexpr bool teaches(abi::RecordType type) {
    return teaching.has(type);
}

constexpr bool value_known(const abi::Record& record) {
    return (record.flags & abi::flag_value_unknown) == 0;
}

/// Whether `value` is what was loaded or stored.
constexpr bool has_bus_value(const abi::Record& record) {
    constexpr KindSet carrying([](const Kind& kind) { return kind.value == ValueIs::on_bus; });
    return carrying.has(record.type) && value_known(record);
}

/// Whether `value` is that, or a number of the record's own: what a filter compares.
constexpr bool has_number(const abi::Record& record) {
    constexpr KindSet numbered([](const Kind& kind) {
        return kind.value == ValueIs::on_bus || kind.value == ValueIs::number;
    });
    return numbered.has(record.type) && value_known(record);
}

/// Whether `value` is one of these, or a code: what a table shows.
constexpr bool has_value(const abi::Record& record) {
    constexpr KindSet coded([](const Kind& kind) { return kind.value == ValueIs::code; });
    return has_number(record) || coded.has(record.type);
}

} // namespace mmioscope::trace
