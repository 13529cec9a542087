// The event fields that a filter can use.
#pragma once

#include "file/block.hpp"
#include "mmioscope/event.hpp"

#include <bit>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace mmioscope::filter {

/// From the trace's head; its records do not have it.
struct Context {
    std::uint32_t frequency = 0;      ///< of the counter in Hz; 0: ticks count as nanoseconds
    std::uint64_t start = 0;          ///< CNTPCT at time 0
    std::vector<std::uint64_t> bases; ///< base addresses of the regions
};

/// A number that an event may have.
struct NumberField {
    /// A word for a value, such as `fault` for `type`.
    struct Word {
        std::string_view word;
        std::uint64_t value;
    };
    enum class Unit {
        none,  ///< 0x, 0b, decimal; followed by K, M, G
        time,  ///< nanoseconds; written as seconds, or with ns, us, ms, s
        words, ///< one of `words`
    };
    /// The number of a record or an event, if it has one.
    struct Number {
        constexpr Number(std::uint64_t value, bool known = true) : value(value), known(known) {}
        std::uint64_t value;
        bool known;
    };
    /// Numbers from `first` to `first + span`, after masking.
    struct Masked {
        std::uint64_t mask;
        std::uint64_t first;
        std::uint64_t span;
        bool has(std::uint64_t number) const { return (number & mask) - first <= span; }
        bool has(const Number& number) const { return number.known && has(number.value); }
    };
    using Get = Number (*)(const abi::Record& record, const Context& context);
    /// Which records have a number in `range`: of at most 64 records, those with a bit set in `of`.
    /// Returns their bits.
    using Which = std::uint64_t (*)(std::span<const abi::Record> records, std::uint64_t of,
                                    const Masked& range, const Context& context);
    struct OfRecord {
        Get get = nullptr;
        Which which = nullptr;
        trace::ColumnSet columns = {}; ///< the columns of a packed record that it uses
    };
    using OfEvent = Number (*)(const Event& event);

    std::string_view name;
    OfRecord of_record;         ///< nulls: it needs the event's names
    OfEvent of_event = nullptr; ///< for an event; null: the record's number
    Unit unit = Unit::none;
    std::span<const Word> words = {};
    bool code = false;       ///< contains addresses or names of the guest's code
    bool of_context = false; ///< depends on Event::context() alone
};

inline bool has_always(const abi::Record&) {
    return true;
}

/// A number that is in the record, for the records that have it.
template <std::uint64_t (*number)(const abi::Record&, const Context&),
          bool (*has)(const abi::Record&) = has_always>
struct RecordNumber {
    static NumberField::Number get(const abi::Record& record, const Context& context) {
        return {number(record, context), has(record)};
    }
    // Most records have a different number, so compare that first.
    static bool is_in(const NumberField::Masked& range, const abi::Record& record,
                      const Context& context) {
        return range.has(number(record, context)) && has(record);
    }
    static std::uint64_t which(std::span<const abi::Record> records, std::uint64_t of,
                               const NumberField::Masked& range, const Context& context) {
        const NumberField::Masked in = range; // a copy: cannot change in the loop
        std::uint64_t held = 0;
        if ((of & (of + 1)) == 0) { // the usual case: all records up to some bit
            const auto count = static_cast<unsigned>(std::countr_one(of));
            for (unsigned i = 0; i < count; ++i) {
                if (is_in(in, records[i], context)) {
                    held |= std::uint64_t{1} << i;
                }
            }
            return held;
        }
        for (; of != 0; of &= of - 1) {
            const auto i = static_cast<unsigned>(std::countr_zero(of));
            held |= std::uint64_t{is_in(in, records[i], context)} << i;
        }
        return held;
    }
};
/// `column` is used in addition to the record's type.
template <std::uint64_t (*number)(const abi::Record&, const Context&),
          bool (*has)(const abi::Record&) = has_always, trace::Column column = trace::Column::site>
inline constexpr NumberField::OfRecord of_record{
    RecordNumber<number, has>::get, RecordNumber<number, has>::which, trace::Column::site | column};

/// Texts that an event may have; one of them must match.
struct TextField {
    /// Called with each text until it returns true.
    class Reader {
    public:
        virtual bool matches(std::string_view text) const = 0;

    protected:
        ~Reader() = default;
    };
    /// True if one of the event's texts matches; false if it has none.
    using Any = bool (*)(const Event& event, const Reader& reader);

    std::string_view name;
    Any any;
    /// The id on which all its texts depend; null: there is no such id.
    Id (Event::*by)() const = nullptr;
    bool folded = false; ///< ignore upper and lower case
    bool code = false;   ///< contains addresses or names of the guest's code
    bool device = false; ///< the trace knows more names for it than the event
    /// The kind of things in the trace whose names it compares, in one word; empty: any text.
    std::string_view kind = {};
};

std::span<const NumberField> number_fields();
std::span<const TextField> text_fields();

/// Alternative names of fields: `read` is `r`.
struct Synonym {
    std::string_view name;
    std::string_view field;
};
std::span<const Synonym> synonyms();

/// By name or synonym; null if there is none.
const NumberField* number_field(std::string_view name);
const TextField* text_field(std::string_view name);

} // namespace mmioscope::filter
