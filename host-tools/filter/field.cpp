#include "filter/field.hpp"

#include "records/kinds.hpp"
#include "records/ticks.hpp"
#include "registers/interrupt_names.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace mmioscope::filter {

namespace {

template <typename Field>
const Field* find(std::span<const Field> fields, std::string_view name) {
    const auto synonym = std::find_if(synonyms().begin(), synonyms().end(),
                                      [name](const Synonym& one) { return one.name == name; });
    const std::string_view meant = synonym == synonyms().end() ? name : synonym->field;
    const auto field = std::find_if(fields.begin(), fields.end(),
                                    [meant](const Field& one) { return one.name == meant; });
    return field == fields.end() ? nullptr : &*field;
}

} // namespace

std::span<const Synonym> synonyms() {
    static constexpr Synonym all[] = {
        {"device", "dev"}, {"register", "reg"},  {"function", "func"}, {"read", "r"},
        {"write", "w"},    {"direction", "dir"}, {"interrupt", "irq"},
    };
    return all;
}

const NumberField* number_field(std::string_view name) {
    return find(number_fields(), name);
}

const TextField* text_field(std::string_view name) {
    return find(text_fields(), name);
}

namespace {

using Number = NumberField::Number;
constexpr Number nothing{0, false};

std::uint64_t value(const abi::Record& record, const Context&) {
    return record.value;
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

// Each kind's word, which tells a filter's type, then its synonyms.
template <typename Take>
constexpr void each_type_word(const Take& take) {
    for (std::size_t type = 0; type < trace::kinds.size(); ++type) {
        // Not kinds[type]: GCC 12 takes that for a modification, and so for no constant.
        const trace::Kind kind = trace::row_of(static_cast<abi::RecordType>(type));
        const std::array words{kind.word, kind.synonyms[0], kind.synonyms[1]};
        for (const std::string_view word : words) {
            if (!word.empty()) {
                take(NumberField::Word{word, type});
            }
        }
    }
}
constexpr std::size_t type_words = [] {
    std::size_t count = 0;
    each_type_word([&count](const NumberField::Word&) { ++count; });
    return count;
}();
constexpr std::array<NumberField::Word, type_words> types = [] {
    std::array<NumberField::Word, type_words> words{};
    std::size_t at = 0;
    each_type_word([&](const NumberField::Word& word) { words[at++] = word; });
    return words;
}();

// CPSR.M (ARM ARM B1.3.1).
constexpr NumberField::Word modes[] = {
    {"usr", 0x10}, {"user", 0x10}, {"fiq", 0x11}, {"irq", 0x12}, {"svc", 0x13},
    {"mon", 0x16}, {"abt", 0x17},  {"hyp", 0x1a}, {"und", 0x1b}, {"sys", 0x1f},
};

using Unit = NumberField::Unit;
using trace::Column;

constexpr NumberField number_rows[] = {
    {"value", of_record<value, trace::has_number, Column::value>},
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

namespace {

using Reader = TextField::Reader;

bool matches_number(const Reader& reader, std::uint64_t number) {
    char digits[20];
    const auto end = std::to_chars(std::begin(digits), std::end(digits), number);
    return reader.matches({digits, static_cast<std::size_t>(end.ptr - digits)});
}

bool given(const Reader& reader, std::string_view text) {
    return !text.empty() && reader.matches(text);
}

bool register_name(const Event& event, const Reader& reader) {
    return event.reg() != nullptr && reader.matches(event.reg()->name);
}

// The function, and those inlined there.
bool functions(const Location* location, const Reader& reader) {
    const auto of_line = [&reader](const SourceLine& line) { return given(reader, line.function); };
    return location != nullptr &&
           (given(reader, location->function) ||
            std::any_of(location->lines.begin(), location->lines.end(), of_line));
}
bool function(const Event& event, const Reader& reader) {
    return functions(event.code(), reader);
}
bool caller(const Event& event, const Reader& reader) {
    return functions(event.caller(), reader);
}

bool module_name(const Event& event, const Reader& reader) {
    return event.code() != nullptr &&
           reader.matches(event.code()->module.empty() ? "kernel" : event.code()->module);
}

// The whole path, and each end of it after a "/".
bool path_ends(std::string_view path, const Reader& reader) {
    while (!path.empty()) {
        if (reader.matches(path)) {
            return true;
        }
        const std::size_t slash = path.find('/');
        path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
    }
    return false;
}

bool source_file(const Event& event, const Reader& reader) {
    return event.code() != nullptr &&
           std::any_of(event.code()->lines.begin(), event.code()->lines.end(),
                       [&reader](const SourceLine& line) { return path_ends(line.file, reader); });
}

bool comm(const Event& event, const Reader& reader) {
    return event.task() != nullptr && reader.matches(event.task()->comm);
}

// By comm or pid; an unresolved one also by the register's value (0x...).
bool task(const Event& event, const Reader& reader) {
    if (event.task() != nullptr &&
        (reader.matches(event.task()->comm) || matches_number(reader, event.task()->pid))) {
        return true;
    }
    char digits[2 + 8] = {'0', 'x'};
    const auto end = std::to_chars(digits + 2, std::end(digits), event.record.task, 16);
    return trace::has_place(event.record.type) &&
           reader.matches({digits, static_cast<std::size_t>(end.ptr - digits)});
}

// A device in "PPI 27 timer rx, mmc@50000", with or without the name of its interrupt.
bool interrupting_device(std::string_view text, const Reader& reader) {
    text.remove_prefix(text.starts_with("PPI ") ? 4 : 0);
    text.remove_prefix(std::min(text.size(), text.find_first_not_of("0123456789")));
    text.remove_prefix(text.starts_with(' ') ? 1 : 0);
    while (!text.empty()) {
        const std::string_view one = text.substr(0, text.find(", "));
        if (reader.matches(one) || reader.matches(one.substr(0, one.find(' ')))) {
            return true;
        }
        text.remove_prefix(std::min(text.size(), one.size() + 2));
    }
    return false;
}

// By name, or by the number in the register.
bool interrupt(const Event& event, const Reader& reader) {
    const std::string_view text = event.interrupt();
    return !text.empty() && (reader.matches(text) ||
                             matches_number(reader, registers::interrupt_of(event.record.value)) ||
                             interrupting_device(text, reader));
}

constexpr TextField text_rows[] = {
    {"dev", [](const Event& event, const Reader& reader) { return given(reader, event.device()); },
     &Event::place_id, false, false, true},
    {"reg", register_name, &Event::place_id, true, false, false, "register"},
    {"func", function, &Event::code_id, false, true, false, "function"},
    {"caller", caller, &Event::caller_id, false, true, false, "function"},
    {"module", module_name, &Event::code_id, false, true},
    {"file", source_file, &Event::code_id, false, true},
    {"task", task, nullptr, false, false, false, "task"},
    {"comm", comm, &Event::task_id, false, false, false, "task"},
    {"irq", interrupt, nullptr, false, false, false, "interrupt"},
    {"text", [](const Event& event, const Reader& reader) { return given(reader, event.text()); },
     &Event::text_id},
};

} // namespace

std::span<const TextField> text_fields() {
    return text_rows;
}

} // namespace mmioscope::filter
