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

/// Properties of a kind, as bits.
enum class Is : unsigned {
    plain = 0,
    executed = 1,    ///< has an instruction
    placed = 3,      ///< ... and an address
    of_register = 7, ///< ... which may be a register's
    teaching = 8,    ///< later records may depend on it: it names something, or begins a text
};

struct Kind {
    std::string_view word = {}; ///< in all outputs and in filters
    std::string_view help = {}; ///< for -F help and the manual
    ValueIs value = ValueIs::none;
    Hide hide = Hide::everything;
    Is bits = Is::plain;
    std::array<std::string_view, 2> synonyms = {}; ///< filters take them, too; empty: none

    constexpr bool is(Is property) const {
        const auto wanted = static_cast<unsigned>(property);
        return (static_cast<unsigned>(bits) & wanted) == wanted;
    }
};

/// The row of a type; one without a word for a type newer than this program. No `default`: the
/// compiler misses a type that has no row.
constexpr Kind row_of(abi::RecordType type) {
    using abi::RecordType;
    using enum ValueIs;
    using enum Hide;
    using enum Is;
    switch (type) {
    case RecordType::none: return {};
    case RecordType::access:
        return {"access", "an access of the guest to a device", on_bus, context, of_register};
    case RecordType::begin:
        return {"begin", "an access is about to be carried out (--pre)", on_bus, context,
                of_register};
    case RecordType::own:
        return {"own", "an access of the hypervisor", on_bus, context, of_register};
    case RecordType::gap:
        return {"lost", "records of this CPU are missing", count, context, plain, {"gap"}};
    case RecordType::marker:
        return {"marker", "a mark that the user or the guest set", number, context, teaching,
                {"mark"}};
    case RecordType::configuration:
        return {"change", "what is traced changed", code, context, plain, {"configuration"}};
    case RecordType::interrupt: return {"interrupt", "an interrupt was delivered", number, context};
    case RecordType::fetch:
        return {"fetch", "the guest executed from a traced page", ValueIs::none, addresses, placed};
    case RecordType::maintenance:
        return {"cache",       "maintenance by an address of a traced page: no access",
                ValueIs::none, context,
                placed,        {"maintenance"}};
    case RecordType::page_table_walk:
        return {"table_walk", "a table walk read a descriptor from a traced page",
                on_bus,       context,
                placed,       {"walk", "page-table-walk"}};
    case RecordType::fault:
        return {"fault", "an access that reached no device", code, context, of_register};
    case RecordType::power:
        return {"power", "a CPU, or the machine, was switched on or off", code, addresses};
    case RecordType::fold:
        return {"fold", "a number of equal reads, in a stream only", count, context};
    case RecordType::task: return {"task", "the name of a task", ValueIs::none, nothing, teaching};
    case RecordType::call:
        return {"call", "the guest called a function that has a probe", ValueIs::none, everything,
                executed};
    case RecordType::ret:
        return {"ret", "such a function returned", ValueIs::none, everything, executed};
    case RecordType::hits:
        return {"hits", "how often such a function was called without a record", code, context,
                executed};
    case RecordType::move:
        return {"move", "a page of memory came to a CPU", code, addresses, of_register};
    case RecordType::payload:
        return {"payload", "bytes of the record before it; an event of its own if that is missing"};
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
    constexpr KindSet placed([](const Kind& kind) { return kind.is(Is::placed); });
    return placed.has(type);
}

/// Whether records of this type have an instruction: pc, lr, sp, mode and task.
constexpr bool has_instruction(abi::RecordType type) {
    constexpr KindSet executed([](const Kind& kind) { return kind.is(Is::executed); });
    return executed.has(type);
}

inline constexpr KindSet teaching([](const Kind& kind) { return kind.is(Is::teaching); });
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

/// Whether `value` is that, a number of the record's own or a code, which is known even where the
/// value on the bus is not.
constexpr bool has_value(const abi::Record& record) {
    constexpr KindSet coded([](const Kind& kind) { return kind.value == ValueIs::code; });
    constexpr KindSet numbered([](const Kind& kind) {
        return kind.value == ValueIs::on_bus || kind.value == ValueIs::number;
    });
    return coded.has(record.type) || (numbered.has(record.type) && value_known(record));
}

} // namespace mmioscope::trace
