#include "filter/field.hpp"

#include "registers/fields_text.hpp"
#include "registers/interrupt_names.hpp"
#include "system/error.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>

#include <charconv>
#include <ranges>

namespace mmioscope::filter {

namespace {

constexpr std::size_t longest_regex = 1024;

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool same(char a, char b, Pattern::Case fold) {
    return fold == Pattern::Case::folded ? lower(a) == lower(b) : a == b;
}

bool equal(std::string_view a, std::string_view b, Pattern::Case fold) {
    return fold == Pattern::Case::exact
               ? a == b
               : a.size() == b.size() &&
                     std::equal(a.begin(), a.end(), b.begin(),
                                [](char x, char y) { return lower(x) == lower(y); });
}

// Backtracks only to the last star, so the time is bounded by the product of the lengths.
bool glob_matches(std::string_view glob, std::string_view text, Pattern::Case fold) {
    std::size_t at = 0;
    std::size_t star = std::string_view::npos;
    std::size_t resume = 0; ///< where to continue if the last star takes one more character
    for (std::size_t i = 0; i < text.size();) {
        if (at < glob.size() && glob[at] == '*') {
            star = at++;
            resume = i;
        } else if (at < glob.size() && (glob[at] == '?' || same(glob[at], text[i], fold))) {
            ++at;
            ++i;
        } else if (star != std::string_view::npos) {
            at = star + 1;
            i = ++resume;
        } else {
            return false;
        }
    }
    return glob.find_first_not_of('*', at) == std::string_view::npos;
}

} // namespace

Pattern Pattern::literal(std::string text, Case fold) {
    return {std::move(text), fold};
}

Pattern Pattern::glob(std::string text, Case fold) {
    Pattern pattern(std::move(text), fold);
    pattern.glob_ = pattern.text_.find_first_of("*?") != std::string::npos;
    return pattern;
}

Pattern Pattern::regex(std::string text, Case fold) {
    if (text.size() > longest_regex) {
        throw bad_input("a regular expression has at most {} characters", longest_regex);
    }
    RE2::Options options(RE2::Latin1); // names are bytes
    options.set_log_errors(false);
    options.set_max_mem(1 << 20);
    options.set_case_sensitive(fold == Case::exact);
    auto compiled = std::make_shared<RE2>(text, options);
    if (!compiled->ok()) {
        throw bad_input("{}", compiled->error());
    }
    Pattern pattern(std::move(text), fold);
    pattern.regex_ = std::move(compiled);
    return pattern;
}

bool Pattern::matches(std::string_view text) const {
    if (regex_) {
        return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *regex_);
    }
    return glob_ ? glob_matches(text_, text, fold_) : equal(text_, text, fold_);
}

namespace {

constexpr std::array<std::string_view, 16> modes = {"usr", "fiq", "irq", "svc", "m4",  "m5",
                                                    "mon", "abt", "m8",  "m9",  "hyp", "und",
                                                    "m12", "m13", "m14", "sys"};

void append_word(std::string& to, std::string_view word) {
    to += to.empty() ? "" : " ";
    to += word;
}

std::string value_text(const Field& field, std::uint64_t bits) {
    const std::string* name = registers::value_name(field, bits);
    return name != nullptr    ? *name
           : field.width == 1 ? fmt::format(FMT_COMPILE("{}"), bits)
                              : fmt::format(FMT_COMPILE("{:#x}"), bits);
}

} // namespace

std::string mode_word(std::uint8_t mode) {
    std::string word(modes[mode & 0xfu]);
    return (mode & abi::mode_thumb) != 0 ? word + " thumb" : word;
}

std::string flag_words(const abi::Record& record) {
    static constexpr std::array<std::pair<unsigned, std::string_view>, 10> words = {{
        {abi::flag_value_unknown, "value_unknown"},
        {abi::flag_early, "early"},
        {abi::flag_same_instruction, "same_instruction"},
        {abi::flag_boot, "boot"},
        {abi::flag_estimated, "estimated"},
        {abi::flag_payload, "payload"},
        {abi::flag_returns, "returns"},
        {abi::access_sign_extend << 8, "sign_extended"},
        {abi::access_syndrome << 8, "syndrome"},
        {abi::access_emulated << 8, "emulated"},
    }};
    const bool piece = record.type == abi::RecordType::payload; // `access` is a number of bytes
    const unsigned bits = record.flags | (piece ? 0u : unsigned{record.access} << 8);
    std::string text;
    for (const auto& [bit, word] : words) {
        if ((bits & bit) != 0) {
            append_word(text, word);
        }
    }
    return text;
}

std::string code_words(const Location* code) {
    if (code == nullptr || code->function.empty()) {
        return {};
    }
    const std::string place = fmt::format(FMT_COMPILE("{}+{:#x}"), code->function, code->offset);
    return code->module.empty() ? place : fmt::format(FMT_COMPILE("{} [{}]"), place, code->module);
}

std::string source_words(const Location* code) {
    return code == nullptr || code->lines.empty()
               ? std::string()
               : fmt::format("{}:{}", code->lines.front().file, code->lines.front().line);
}

std::string field_words(const Event& event) {
    std::string text;
    if (event.reg() != nullptr && has_bus_value(event.record)) {
        const auto within = static_cast<unsigned>(event.offset() - event.reg()->offset);
        for (const Field& field : event.reg()->fields) {
            if (registers::holds(field, abi::access_size(event.record), within)) {
                const std::uint64_t bits =
                    registers::field_value(field, event.record.value, within);
                append_word(text, field.name + "=" + value_text(field, bits));
            }
        }
    }
    return text;
}

const Field* lone_field(const Event& event) {
    const Register* const reg = event.reg();
    const Field* lone = nullptr;
    if (reg == nullptr) {
        return nullptr;
    }
    for (const Field& field : reg->fields) {
        if (registers::holds(field, abi::access_size(event.record),
                             static_cast<unsigned>(event.offset() - reg->offset))) {
            if (lone != nullptr || field.width == 1 || !field.values.empty()) {
                return nullptr;
            }
            lone = &field;
        }
    }
    return lone;
}

std::string payload_words(const Event& event) {
    const Payload& payload = event.payload();
    if (payload.bytes.empty() && payload.begins && payload.ends) {
        return {};
    }
    return fmt::format("{}{:02x}{}", payload.begins ? "" : "..", fmt::join(payload.bytes, ""),
                       payload.ends ? "" : "..");
}

std::string_view plain_text(std::string_view text) {
    const bool quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
    return quoted ? text.substr(1, text.size() - 2) : text;
}

namespace fields_of {

namespace {

bool matches_number(const Patterns& patterns, std::uint64_t number) {
    char digits[20];
    const auto end = std::to_chars(std::begin(digits), std::end(digits), number);
    return any_matches(patterns, {digits, static_cast<std::size_t>(end.ptr - digits)});
}

// The whole path, and each end of it after a "/".
bool path_ends(std::string_view path, const Patterns& patterns) {
    while (!path.empty()) {
        if (any_matches(patterns, path)) {
            return true;
        }
        const std::size_t slash = path.find('/');
        path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
    }
    return false;
}

// A device in "PPI 27 timer rx, mmc@50000", with or without the name of its interrupt.
bool interrupting_device(std::string_view text, const Patterns& patterns) {
    text.remove_prefix(text.starts_with("PPI ") ? 4 : 0);
    text.remove_prefix(std::min(text.size(), text.find_first_not_of("0123456789")));
    text.remove_prefix(text.starts_with(' ') ? 1 : 0);
    while (!text.empty()) {
        const std::string_view one = text.substr(0, text.find(", "));
        if (any_matches(patterns, one) || any_matches(patterns, one.substr(0, one.find(' ')))) {
            return true;
        }
        text.remove_prefix(std::min(text.size(), one.size() + 2));
    }
    return false;
}

} // namespace

bool functions(const Location* location, const Patterns& patterns) {
    const auto of_line = [&patterns](const SourceLine& line) {
        return given(patterns, line.function);
    };
    return location != nullptr &&
           (given(patterns, location->function) ||
            std::any_of(location->lines.begin(), location->lines.end(), of_line));
}

bool module_name(const Event& event, const Patterns& patterns) {
    return event.code() != nullptr &&
           any_matches(patterns, event.code()->module.empty() ? "kernel" : event.code()->module);
}

bool source_file(const Event& event, const Patterns& patterns) {
    return event.code() != nullptr &&
           std::any_of(
               event.code()->lines.begin(), event.code()->lines.end(),
               [&patterns](const SourceLine& line) { return path_ends(line.file, patterns); });
}

// By comm or pid; an unresolved one also by the register's value (0x...).
bool task(const Event& event, const Patterns& patterns) {
    if (event.task() != nullptr && (any_matches(patterns, event.task()->comm) ||
                                    matches_number(patterns, event.task()->pid))) {
        return true;
    }
    char digits[2 + 8] = {'0', 'x'};
    const auto end = std::to_chars(digits + 2, std::end(digits), event.record.task, 16);
    return trace::has_place(event.record.type) &&
           any_matches(patterns, {digits, static_cast<std::size_t>(end.ptr - digits)});
}

// By name, or by the number in the register.
bool interrupt(const Event& event, const Patterns& patterns) {
    const std::string_view text = event.interrupt();
    return !text.empty() &&
           (any_matches(patterns, text) ||
            matches_number(patterns, registers::interrupt_of(event.record.value)) ||
            interrupting_device(text, patterns));
}

} // namespace fields_of

const EventField* field_named(std::string_view word) {
    const auto* const found = std::ranges::find_if(fields, [word](const EventField& field) {
        return std::ranges::find(field.words, word) != field.words.end();
    });
    return found == std::end(fields) || word.empty() ? nullptr : found;
}

namespace {

template <typename Words>
void add_line(std::string& to, const Words& words, std::string_view help) {
    std::string all;
    for (const std::string_view word : words) {
        all.append(all.empty() || word.empty() ? "" : ", ").append(word);
    }
    to += fmt::format("  {:<27} {}{}\n", all, all.size() > 27 ? fmt::format("\n{:30}", "") : "",
                      help);
}

std::string help_of(const EventField& field) {
    constexpr std::size_t few = 12;
    const auto values = field.values | std::views::transform(&EventField::Word::word);
    return fmt::format(fmt::runtime(field.values.empty()         ? "{}"
                                    : field.values.size() <= few ? "{} ({})"
                                                                 : "{}, one of those below"),
                       field.help, fmt::join(values, ", "));
}

} // namespace

std::string list_of_fields() {
    std::string list = "Fields of filters:\n";
    for (const EventField& field : fields) {
        if (!field.word().empty()) {
            add_line(list, field.words, help_of(field));
        }
    }
    list += "\nColumns of exports:\n";
    for (const EventField& field : fields) {
        if (!field.column.empty()) {
            add_line(list, std::array{field.column}, field.help);
        }
    }
    list += "\nTypes of records:\n";
    for (std::size_t type = 0; type < trace::kinds.size(); ++type) {
        const trace::Kind& kind = trace::kinds[type];
        if (!kind.word.empty()) {
            const std::string word = fmt::format("{} {}", type, kind.word);
            add_line(list, std::array{std::string_view(word), kind.synonyms[0], kind.synonyms[1]},
                     kind.help);
        }
    }
    return list;
}

} // namespace mmioscope::filter
