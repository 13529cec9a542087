// The fields of an event, one row for each: the columns of exports, and what a filter can ask.
#pragma once

#include "file/block.hpp"
#include "mmioscope/event.hpp"
#include "records/kinds.hpp"
#include "records/ticks.hpp"
#include "table/table.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace re2 {
class RE2;
}

namespace mmioscope::filter {

// The pattern that a text is compared with: a literal, a glob or a regular expression.

class Pattern {
public:
    /// Whether upper and lower case differ.
    enum class Case { exact, folded };

    /// Matches exactly `text`.
    static Pattern literal(std::string text, Case fold);
    /// "*" matches any characters, "?" one character.
    static Pattern glob(std::string text, Case fold);
    /// A regular expression of RE2, found anywhere in the text, in time linear in the text's
    /// length. Throws Error (bad_input) with the reason if it is invalid.
    static Pattern regex(std::string text, Case fold);

    bool matches(std::string_view text) const;

    const std::string& text() const { return text_; } ///< as given, for any kind
    bool is_regex() const { return regex_ != nullptr; }

private:
    Pattern(std::string text, Case fold) : text_(std::move(text)), fold_(fold) {}

    std::string text_;
    Case fold_;
    bool glob_ = false;
    std::shared_ptr<const re2::RE2> regex_;
};

using Patterns = std::vector<Pattern>;

/// Whether `text` matches one of them.
inline bool any_matches(const Patterns& patterns, std::string_view text) {
    return std::ranges::any_of(patterns,
                               [text](const Pattern& pattern) { return pattern.matches(text); });
}

// Words for the numbers of a record in exports. They are part of the formats, and do not change.

using trace::has_bus_value;
using trace::type_word;

/// "svc", "usr thumb", ...
std::string mode_word(std::uint8_t mode);

/// The record's flags, separated by spaces: value_unknown early same_instruction boot estimated
/// payload sign_extended syndrome emulated.
std::string flag_words(const abi::Record& record);

/// "pl011_console_putchar+0x1c", "mmci_irq+0x8 [armmmci]"; empty for null.
std::string code_words(const Location* code);

/// "pl011.c:1456" of the innermost function; empty if unknown.
std::string source_words(const Location* code);

/// "TXFF=1 RXFE=empty": each field of the register by name; empty if unknown.
std::string field_words(const Event& event);

/// The only field that field_words() can show in the event's context, if its values have no names
/// and appear as "0x.."; null otherwise.
const Field* lone_field(const Event& event);

/// The payload in hexadecimal, with ".." where a part is missing; empty: it has none.
std::string payload_words(const Event& event);

/// The text of a marker without its quotes; other texts unchanged.
std::string_view plain_text(std::string_view text);

/// From the trace's head; its records do not have it.
struct Context {
    trace::TickLength tick{0};
    std::uint64_t start = 0;               ///< CNTPCT at time 0
    std::vector<std::uint64_t> bases = {}; ///< base addresses of the regions
};

/// A number that an event may have.
struct Number {
    constexpr Number(std::uint64_t value, bool known = true) : value(value), known(known) {}
    std::uint64_t value;
    bool known;
};

struct EventField {
    /// A word for a value, such as `fault` for `type`.
    struct Word {
        std::string_view word;
        std::uint64_t value;
    };
    enum class Unit {
        decimal, ///< filters take all numbers as 0x, 0b or decimal, followed by K, M, G
        hex,     ///< exports have it as such
        time,    ///< nanoseconds; filters take seconds, or ns, us, ms, s
    };
    /// Numbers from `first` to `first + span`, after masking.
    struct Masked {
        std::uint64_t mask;
        std::uint64_t first;
        std::uint64_t span;
        bool has(std::uint64_t number) const { return (number & mask) - first <= span; }
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
    /// What a column's cell depends on.
    enum class Of {
        number,    ///< the event
        time,      ///< the event; it grows slowly
        of_cpu,    ///< Record::cpu_sequence
        of_device, ///< Record::lock_sequence
        text,      ///< Event::text_id(), or Event::note()
        interrupt, ///< Event::interrupt_id()
        context,   ///< only Event::context() of an access
        stack,     ///< Record::sp or va, mostly the same in a context
        value,     ///< the value of an access, and its place
        flags,     ///< Record::flags and Record::access; so do accesses without a payload
    };
    /// Which events of Perfetto have it as an argument: none, because tracks and names say it, or
    /// it is of little use there; slices of accesses, and what is no access; or all instants.
    enum class In : std::uint8_t { none, slices, all };

    enum class Is {
        code,   ///< contains addresses or names of the guest's code
        folded, ///< upper and lower case are the same
        device, ///< the trace knows more names for it than the event
    };
    /// The kind of things in the trace whose names filters compare, in one word; empty: any text.
    struct Kind {
        std::string_view word = {};
    };
    using Values = std::span<const Word>;
    using OfEvent = Number (*)(const Event&);
    using CellOf = table::Cell (*)(const Event&);
    using Any = bool (*)(const Event& event, const Patterns& patterns);
    using By = Id (Event::*)() const;

    constexpr EventField() = default;
    template <typename... Parts>
    constexpr EventField(std::string_view column, std::array<std::string_view, 2> words,
                         std::string_view help, const Parts&... parts)
        : column(column), words(words), help(help) {
        (set(parts), ...);
    }

    std::string_view column;               ///< in exports; empty: it is no column
    std::array<std::string_view, 2> words; ///< in filters; empty: they do not take it
    std::string_view help;                 ///< for -F help and the manual

    Unit unit = Unit::decimal;
    Values values;
    bool code = false, folded = false, device = false; ///< see Is
    OfRecord of_record;                                ///< nulls: it needs the event's names
    OfEvent of_event = nullptr;                        ///< for an event; null: the record's number
    CellOf cell = nullptr;                             ///< of the column; null: the number
    /// Whether one of an event's texts matches; false if it has none. Null: filters compare the
    /// number.
    Any any = nullptr;
    By by = nullptr; ///< the id on which that depends; null: there is no such id
    Kind kind;
    Of of = Of::number;
    In in = In::slices;

    /// Must be constant-evaluated as far as the field is known.
    [[gnu::always_inline]] constexpr Number number(const Event& event,
                                                   const Context& context) const {
        return of_event != nullptr ? of_event(event) : of_record.get(event.record, context);
    }
    constexpr std::string_view word() const { return words[0]; }

private:
    constexpr void set(Unit part) { unit = part; }
    constexpr void set(Values part) { values = part; }
    constexpr void set(Is part) {
        (part == Is::code ? code : part == Is::folded ? folded : device) = true;
    }
    constexpr void set(OfRecord part) { of_record = part; }
    constexpr void set(OfEvent part) { of_event = part; }
    constexpr void set(CellOf part) { cell = part; }
    constexpr void set(Any part) { any = part; }
    constexpr void set(By part) { by = part; }
    constexpr void set(Kind part) { kind = part; }
    constexpr void set(Of part) { of = part; }
    constexpr void set(In part) { in = part; }
};

/// A number that is in the record, for the records that have it.
template <auto number, bool (*has)(const abi::Record&)>
struct RecordNumber {
    static constexpr Number get(const abi::Record& record, const Context& context) {
        return {number(record, context), has(record)};
    }
    // Most records have a different number, so compare that first.
    static bool is_in(const EventField::Masked& range, const abi::Record& record,
                      const Context& context) {
        return range.has(number(record, context)) && has(record);
    }
    static std::uint64_t which(std::span<const abi::Record> records, std::uint64_t of,
                               const EventField::Masked& range, const Context& context) {
        const EventField::Masked in = range; // a copy: cannot change in the loop
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

namespace fields_of {

constexpr bool always(const abi::Record&) {
    return true;
}
constexpr bool placed(const abi::Record& record) {
    return trace::has_place(record.type);
}
constexpr bool executed(const abi::Record& record) {
    return trace::has_instruction(record.type);
}
constexpr bool called(const abi::Record& record) {
    return record.type == abi::RecordType::call;
}
constexpr bool returned(const abi::Record& record) {
    return record.type == abi::RecordType::ret;
}
/// A return's is the time since its call, if that is known.
constexpr bool has_duration(const abi::Record& record) {
    return (placed(record) && record.type != abi::RecordType::begin) ||
           (returned(record) && record.duration != 0);
}
constexpr bool lost(const abi::Record& record) {
    return record.type == abi::RecordType::gap;
}
// 0 means an unknown address.
template <std::uint32_t abi::Record::*member>
constexpr bool has_address(const abi::Record& record) {
    return record.*member != 0 && executed(record);
}
constexpr bool has_va(const abi::Record& record) {
    return record.va != 0 && placed(record);
}

/// `column` is used in addition to the record's type.
template <auto number, bool (*has)(const abi::Record&) = always,
          trace::Column column = trace::Column::site>
inline constexpr EventField::OfRecord record_number{
    RecordNumber<number, has>::get, RecordNumber<number, has>::which, trace::Column::site | column};

template <auto member>
constexpr std::uint64_t number(const abi::Record& record, const Context&) {
    return record.*member;
}
template <std::uint32_t abi::Record::*member, trace::Column column = trace::Column::site>
inline constexpr EventField::OfRecord address =
    record_number<number<member>, has_address<member>, column>;
template <std::uint8_t abi::Record::*member, std::uint8_t mask>
constexpr std::uint64_t is_set(const abi::Record& record, const Context&) {
    return (record.*member & mask) != 0 ? 1 : 0;
}
template <std::uint8_t mask>
inline constexpr EventField::OfRecord flag = record_number<is_set<&abi::Record::flags, mask>>;

constexpr std::uint64_t duration(const abi::Record& record, const Context& context) {
    return context.tick.nanoseconds(record.duration);
}
constexpr std::uint64_t time(const abi::Record& record, const Context& context) {
    return context.tick.nanoseconds(record.time - std::min(record.time, context.start));
}
constexpr std::uint64_t physical_address(const abi::Record& record, const Context&) {
    return abi::physical_address(record);
}
constexpr std::uint64_t size(const abi::Record& record, const Context&) {
    return abi::access_size(record);
}
constexpr std::uint64_t read(const abi::Record& record, const Context&) {
    return abi::is_write(record) ? 0 : 1;
}
constexpr auto write = is_set<&abi::Record::access, abi::access_write>;
constexpr std::uint64_t offset(const abi::Record& record, const Context& context) {
    const std::uint64_t address = abi::physical_address(record);
    const std::uint64_t base =
        record.device < context.bases.size() ? context.bases[record.device] : 0;
    return address < base ? address : address - base;
}
template <abi::RecordType type>
constexpr std::uint64_t is(const abi::Record& record, const Context&) {
    return record.type == type ? 1 : 0;
}
constexpr std::uint64_t low_value(const abi::Record& record, const Context&) {
    return record.value & 0xffff'ffff;
}
constexpr std::uint64_t high_value(const abi::Record& record, const Context&) {
    return record.value >> 32;
}
constexpr std::uint64_t type(const abi::Record& record, const Context&) {
    return static_cast<std::uint8_t>(record.type);
}
constexpr std::uint64_t mode(const abi::Record& record, const Context&) {
    return record.mode & 0x1fu;
}
constexpr std::uint64_t user(const abi::Record& record, const Context&) {
    return (record.mode & 0x1fu) == 0x10 ? 1 : 0;
}
template <std::uint32_t Task::*member>
Number of_task(const Event& event) {
    const Task* const task = event.task();
    return task != nullptr ? Number(task->*member) : Number(0, false);
}

using table::Cell;

inline Cell words(std::string text) {
    return text.empty() ? Cell() : Cell(std::move(text));
}
inline Cell view(std::string_view text) {
    return text.empty() ? Cell() : Cell(text);
}
inline bool given(const Patterns& patterns, std::string_view text) {
    return !text.empty() && any_matches(patterns, text);
}

// What filters compare texts with.
bool functions(const Location* location, const Patterns& patterns); ///< and those inlined there
bool module_name(const Event& event, const Patterns& patterns);
bool source_file(const Event& event, const Patterns& patterns);
bool task(const Event& event, const Patterns& patterns);
bool interrupt(const Event& event, const Patterns& patterns);

inline constexpr EventField::Word directions[] = {{"r", 0}, {"w", 1}, {"read", 0}, {"write", 1}};

// CPSR.M (ARM ARM B1.3.1).
inline constexpr EventField::Word modes[] = {
    {"usr", 0x10}, {"user", 0x10}, {"fiq", 0x11}, {"irq", 0x12}, {"svc", 0x13},
    {"mon", 0x16}, {"abt", 0x17},  {"hyp", 0x1a}, {"und", 0x1b}, {"sys", 0x1f},
};

/// Calls `take` with each kind's word, then its synonyms.
template <typename Take>
constexpr void each_type_word(const Take& take) {
    for (std::size_t type = 0; type < trace::kinds.size(); ++type) {
        // Not kinds[type]: GCC 12 takes that for a modification, and so for no constant.
        const trace::Kind kind = trace::row_of(static_cast<abi::RecordType>(type));
        for (const std::string_view word : {kind.word, kind.synonyms[0], kind.synonyms[1]}) {
            if (!word.empty()) {
                take(EventField::Word{word, type});
            }
        }
    }
}
inline constexpr std::size_t type_words = [] {
    std::size_t count = 0;
    each_type_word([&count](const EventField::Word&) { ++count; });
    return count;
}();
inline constexpr std::array<EventField::Word, type_words> types = [] {
    std::array<EventField::Word, type_words> words{};
    std::size_t at = 0;
    each_type_word([&](const EventField::Word& word) { words[at++] = word; });
    return words;
}();

using Row = EventField;
using abi::Record;
using E = const Event&;
using P = const Patterns&;
using Packed = trace::Column;
using Kind = EventField::Kind;
using Values = EventField::Values;
using Unit = EventField::Unit;
using enum EventField::Is;
using Of = EventField::Of;
using In = EventField::In;

/// Columns in their order, which is part of the formats of exports: new ones come last.
inline constexpr EventField fields[] = {
    Row("ns", {"time"}, "time since the first record", Unit::time, Of::time, In::none,
        record_number<fields_of::time, always, Packed::time>,
        [](E e) { return Number(e.nanoseconds); }),
    Row("ticks", {}, "the time as recorded", Of::time, In::none,
        record_number<number<&Record::time>, always, Packed::time>),
    Row("cpu", {"cpu"}, "the CPU that made the record", record_number<number<&Record::cpu>>),
    Row("type", {"type"}, "the kind of record", Values(types), Of::context, In::none,
        record_number<type>, [](E e) { return view(type_word(e.record.type)); }),
    Row("dir", {"dir", "direction"}, "the direction of an access", Values(directions), Of::context,
        In::none, record_number<write, placed>,
        [](E e) {
            return view(!placed(e.record) ? "" : abi::is_write(e.record) ? "w" : "r");
        }),
    Row({}, {"r", "read"}, "a load", record_number<read, placed>),
    Row({}, {"w", "write"}, "a store", record_number<write, placed>),
    Row("size", {"size"}, "bytes of an access", Of::context, In::none, record_number<size, placed>),
    Row(
        "device", {"dev", "device"}, "the device", Of::context, In::none, &Event::place_id, device,
        [](E e) {
            return view(e.record.device == abi::no_device || e.device() == "-" ? "" : e.device());
        },
        [](E e, P patterns) { return given(patterns, e.device()); }),
    Row("offset", {"offset"}, "bytes from the start of the device", Unit::hex, Of::context,
        In::none, record_number<offset, placed>,
        [](E e) { return Number(e.offset(), placed(e.record)); }),
    Row("address", {"pa", "address"}, "the physical address", Unit::hex, Of::context,
        record_number<physical_address, placed>),
    Row(
        "register", {"reg", "register"}, "the register", Of::context, In::none, &Event::place_id,
        folded, Kind{"register"},
        [](E e) { return e.reg() == nullptr ? Cell() : Cell(std::string_view(e.reg()->name)); },
        [](E e, P patterns) { return e.reg() != nullptr && any_matches(patterns, e.reg()->name); }),
    Row("value", {"value"}, "as on the bus; of other types the number or the code that they have",
        Unit::hex, record_number<number<&Record::value>, trace::has_value, Packed::value>),
    Row("fields", {}, "the fields of the register, as NAME=value, separated by spaces", Of::value,
        [](E e) { return words(field_words(e)); }),
    Row("duration_ns", {"duration"},
        "time until the access was known to be done, or the function returned", Unit::time,
        record_number<duration, has_duration, Packed::time>),
    Row("pc", {"pc"}, "the address of the instruction", Unit::hex, code, Of::context,
        address<&Record::pc>),
    Row(
        "function", {"func", "function"}, "the function of the instruction", code, Of::context,
        &Event::code_id, Kind{"function"}, [](E e) { return words(code_words(e.code())); },
        [](E e, P patterns) { return functions(e.code(), patterns); }),
    Row({}, {"module"}, "its kernel module", code, &Event::code_id, module_name),
    Row(
        "source", {"file", "source"}, "its source file and line", code, Of::context, In::none,
        &Event::code_id, [](E e) { return words(source_words(e.code())); }, source_file),
    Row("lr", {"lr"}, "the register LR, which need not be the return address", Unit::hex, code,
        In::none, address<&Record::lr, Packed::lr>),
    Row(
        "caller", {"caller"}, "the function that this function returns to, if it is known", code,
        Of::context, &Event::caller_id, Kind{"function"},
        [](E e) { return words(code_words(e.caller())); },
        [](E e, P patterns) { return functions(e.caller(), patterns); }),
    Row("sp", {"sp"}, "the stack pointer", Unit::hex, code, Of::stack, In::none,
        address<&Record::sp, Packed::frame>),
    Row("va", {"va"}, "the virtual address", Unit::hex, code, Of::stack, In::none,
        record_number<number<&Record::va>, has_va>),
    Row("mode", {"mode"}, "the mode of the processor", Values(modes), Of::context, In::none,
        record_number<mode>,
        [](E e) {
            return words(executed(e.record) && e.record.mode != 0 ? mode_word(e.record.mode) : "");
        }),
    Row({}, {"call"}, "a call of a function that has a probe",
        record_number<is<abi::RecordType::call>>),
    Row({}, {"move"}, "a page of memory came to a CPU", record_number<is<abi::RecordType::move>>),
    Row({}, {"ret"}, "a return of such a function", record_number<is<abi::RecordType::ret>>),
    Row({}, {"retval"}, "what it returned: r0", Unit::hex, code,
        record_number<low_value, returned, Packed::value>),
    Row({}, {"arg0"}, "its first argument: r0", Unit::hex, code,
        record_number<low_value, called, Packed::value>),
    Row({}, {"arg1"}, "r1", Unit::hex, code, record_number<high_value, called, Packed::value>),
    Row({}, {"arg2"}, "r2", Unit::hex, code, record_number<number<&Record::va>, called>),
    Row({}, {"arg3"}, "r3", Unit::hex, code, record_number<number<&Record::pa_low>, called>),
    Row({}, {"user"}, "User mode", record_number<user>),
    Row({}, {"thumb"}, "Thumb state", record_number<is_set<&Record::mode, abi::mode_thumb>>),
    Row("task", {"task"}, "the task: in exports the address in TPIDRURO", Unit::hex, Of::context,
        Kind{"task"}, address<&Record::task, Packed::frame>, task),
    Row("pid", {"pid"}, "the number of the thread", Of::context, &Event::task_id,
        of_task<&Task::pid>),
    Row({}, {"tgid"}, "the number of the process", &Event::task_id, of_task<&Task::tgid>),
    Row(
        "comm", {"comm"}, "the name of the task", Of::context, &Event::task_id, Kind{"task"},
        [](E e) { return e.task() == nullptr ? Cell() : Cell(std::string_view(e.task()->comm)); },
        [](E e, P patterns) {
            return e.task() != nullptr && any_matches(patterns, e.task()->comm);
        }),
    Row(
        "interrupt", {"irq", "interrupt"},
        "the interrupt in the accessed register of the interrupt controller", Of::interrupt,
        Kind{"interrupt"}, [](E e) { return view(e.interrupt()); }, interrupt),
    Row(
        "text", {"text"},
        "the text of a marker, complete in the last of its records, or another text", Of::text,
        In::all, &Event::text_id, [](E e) { return view(plain_text(e.text())); },
        [](E e, P patterns) { return given(patterns, e.text()); }),
    Row("lost", {}, "how many records of this CPU are missing, from sequence on", In::all,
        record_number<number<&Record::value>, lost, Packed::value>),
    Row("sequence", {"seq", "sequence"}, "the number of the record on its CPU, lost ones counted",
        Of::of_cpu, In::all,
        record_number<number<&Record::cpu_sequence>, always, Packed::sequence>),
    Row("order", {"order"}, "the number of the access at its device", Of::of_device,
        record_number<number<&Record::lock_sequence>, placed, Packed::sequence>),
    Row("flags", {}, "words about the record, separated by spaces", Of::flags, In::all,
        [](E e) { return words(flag_words(e.record)); }),
    Row({}, {"emulated"}, "the hypervisor carried the access out",
        record_number<is_set<&Record::access, abi::access_emulated>, placed>),
    Row({}, {"unknown"}, "the value is not known", flag<abi::flag_value_unknown>),
    Row({}, {"early"}, "recorded before it was carried out", flag<abi::flag_early>),
    Row({}, {"boot"}, "carried out before the ring buffers existed", flag<abi::flag_boot>),
    Row({}, {"estimated"}, "time and duration are estimates", flag<abi::flag_estimated>),
    Row("payload", {}, "the bytes of the record, in hexadecimal, with .. where a part is missing",
        Of::flags, In::all, [](E e) { return words(payload_words(e)); }),
    Row("note", {}, "what a person noted of the event", Of::text, In::all,
        [](E e) { return view(e.note()); }),
};

} // namespace fields_of

using fields_of::fields;

/// The field of this name in filters; null if there is none.
const EventField* field_named(std::string_view word);

/// What filters take, what exports have, and the kinds of records: one line each, with its help.
std::string list_of_fields();

} // namespace mmioscope::filter
