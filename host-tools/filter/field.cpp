#include "filter/field.hpp"

#include "registers/interrupt_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <ranges>

namespace mmioscope::filter {

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
