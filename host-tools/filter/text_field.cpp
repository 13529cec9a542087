#include "filter/field.hpp"

#include "records/kinds.hpp"
#include "registers/interrupt_names.hpp"

#include <algorithm>
#include <charconv>

namespace mmioscope::filter {

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
