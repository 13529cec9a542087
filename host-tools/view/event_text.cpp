#include "view/event_text.hpp"

#include "abi/stack.hpp"
#include "records/kinds.hpp"
#include "records/record_text.hpp"
#include "records/ticks.hpp"
#include "registers/fields_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace mmioscope::view {

using abi::Record;
using abi::RecordType;

namespace {

bool goes_on(char c) { // a byte of a UTF-8 character after the first
    return (c & 0xc0) == 0x80;
}

} // namespace

std::size_t width_of(std::string_view text) {
    return text.size() - static_cast<std::size_t>(std::ranges::count_if(text, goes_on));
}

std::string cut(std::string_view text, std::size_t width) {
    if (width_of(text) <= width) {
        return std::string(text);
    }
    const std::size_t dots = std::min<std::size_t>(2, width);
    std::size_t end = 0;
    for (std::size_t left = width - dots; left > 0 || goes_on(text[end]); ++end) {
        left -= goes_on(text[end]) ? 0 : 1;
    }
    return std::string(text.substr(0, end)).append(dots, '.');
}

std::string_view short_name(const LineStyle& style, std::string_view device) {
    const auto found = style.short_names.find(device);
    return found == style.short_names.end() ? device : std::string_view(found->second);
}

std::string value_of(const Event& event) {
    const unsigned digits = std::min(abi::access_size(event.record), 8u) * 2;
    return value_known(event) ? fmt::format("{:#0{}x}", event.record.value, digits + 2) : "?";
}

std::string words_of(const LineStyle& style, const Event& event) {
    switch (event.record.type) {
    case RecordType::access:
    case RecordType::own: return "";
    case RecordType::fault:
    case RecordType::move: return std::string(event.text());
    case RecordType::begin: return std::string(begun_text(style));
    default: return fmt::format("({})", trace::type_word(event.record.type));
    }
}

std::string colored(const LineStyle& style, std::string_view color, std::string_view text) {
    return style.color ? fmt::format("\x1b[{}m{}\x1b[m", color, text) : std::string(text);
}

bool is_stack(const Payload& payload) {
    abi::PayloadKind kind{};
    if (payload.bytes.size() >= sizeof kind) {
        std::memcpy(&kind, payload.bytes.data(), sizeof kind);
    }
    return kind == abi::PayloadKind::stack && payload.begins && payload.ends;
}

std::vector<Event> pieces_of(const Event& owner) {
    const Payload& payload = owner.payload();
    std::vector<Event> events;
    Event event = owner;
    event.payload_id = no_id;
    const auto add = [&](const abi::Record& piece) {
        event.number += piece.cpu_sequence - event.record.cpu_sequence;
        event.record = piece;
        event.ids = {};
        event.context_number = 0;
        events.push_back(event);
    };
    std::ranges::for_each(payload.pieces, add);
    if (!payload.ends) {
        add(abi::next_piece(event.record));
    }
    return events;
}

bool value_known(const Event& event) {
    return trace::value_known(event.record);
}

std::string direction_text(const Record& record) {
    return (abi::is_write(record) ? 'W' : 'R') + std::to_string(abi::access_size(record));
}

std::string register_or_offset(const LineStyle& style, const Event& event) {
    const Place& place = event.place();
    return style.raw ? registers::register_text(nullptr, place.offset)
                     : registers::register_text(place);
}

std::string meaning_text(const Event& event) {
    std::string text;
    if (const Register* const reg = event.reg()) {
        text = registers::fields_text(*reg, event.record.value, abi::access_size(event.record),
                                      static_cast<unsigned>(event.offset() - reg->offset));
    }
    if (const std::string_view interrupt = event.interrupt(); !interrupt.empty()) {
        text += fmt::format("{}<{}>", text.empty() ? "" : " ", interrupt);
    }
    return with_carried_out(std::move(text), event);
}

std::string with_carried_out(std::string text, const Event& event) {
    if (const std::string_view carried_out = event.carried_out(); !carried_out.empty()) {
        text += fmt::format("{}-> {}", text.empty() ? "" : " ", carried_out);
    }
    return text;
}

// Only the place of a module may be known.
std::string code_text(const Location& location) {
    const std::string module = location.module.empty() ? "" : '[' + location.module + ']';
    const std::string offset = '+' + hex_text(location.offset);
    return location.function.empty() ? module + offset
           : module.empty()          ? location.function + offset
                                     : location.function + offset + ' ' + module;
}

std::string function_text(const Location& location) {
    return location.function.empty() ? '[' + location.module + ']' : location.function;
}

std::string function_of(const LineStyle& style, const Event& event) {
    const Record& record = event.record;
    std::string text;
    if (style.pc && (style.raw || event.code() == nullptr)) {
        const std::uint64_t high = record.pc == 0 ? 0 : std::uint64_t{style.pc_high} << 32;
        text = fmt::format(" pc {:#010x}{}", high | record.pc, trace::mode_text(record.mode));
    } else if (style.pc) {
        text = ' ' + colored(style, color::code, code_text(*event.code()));
        text += trace::mode_text(record.mode);
    }
    return text;
}

std::string caller_of(const LineStyle& style, const Event& event) {
    const bool shown = style.pc && !style.raw && event.caller() != nullptr;
    return shown ? function_text(*event.caller()) : "";
}

std::string code_of(const LineStyle& style, const Event& event) {
    std::string text = function_of(style, event);
    if (style.pc && !style.raw && event.caller() != nullptr) {
        text += " <- " + function_text(*event.caller());
    }
    return text;
}

// Without code addresses, also hides the address of a stack, which is the task in User mode.
std::string task_of(const LineStyle& style, const Event& event) {
    const Record& record = event.record;
    const bool begun = record.type == RecordType::begin; // has its own words
    if (!style.raw && event.task() != nullptr) {
        return " [" + event.task()->comm + ':' + std::to_string(event.task()->pid) + ']';
    }
    const bool shown =
        style.raw ? style.pc || !trace::in_user_mode(record) : trace::may_be_task(record);
    return style.task && !begun && shown ? fmt::format(" [{:#010x}]", record.task) : "";
}

std::string_view begun_text(const LineStyle& style) {
    return style.selected ? "(begun, no end selected)" : "(begun, no end recorded)";
}

// Like strace -T, but with more digits: many accesses take less than 1 us.
std::string duration_text(const LineStyle& style, const Record& record) {
    const char* const about = (record.flags & abi::flag_estimated) != 0 ? "~" : "";
    if (style.frequency == 0) {
        return fmt::format("<{}{}t>", about, record.duration);
    }
    const std::uint64_t nanoseconds = trace::nanoseconds(record.duration, style.frequency);
    return fmt::format("<{}{}.{:09}>", about, nanoseconds / 1'000'000'000,
                       nanoseconds % 1'000'000'000);
}

namespace {

using abi::Record;
using abi::RecordType;

constexpr std::size_t time_and_cpu = FittedLine::words_column;
constexpr std::size_t narrow = 100;    ///< characters; below this, names get less room
constexpr std::size_t took_width = 16; ///< for a duration, with a blank
constexpr std::size_t least_code = 16; ///< least width of a function beside a task
constexpr std::size_t least_fields = 8;

// Escape sequences have no width.
std::size_t width_without_color(std::string_view text) {
    std::size_t width = 0;
    bool inside = false;
    for (const char c : text) {
        inside = inside || c == '\x1b';
        width += inside || goes_on(c) ? 0 : 1;
        inside = inside && c != 'm';
    }
    return width;
}

std::string without_blank(std::string text) {
    return text.substr(text.starts_with(' ') ? 1 : 0);
}

bool is_begun(const Record& record) {
    return record.type == RecordType::begin;
}

} // namespace

/// A line under construction, cell by cell.
class FittedLine::Cells {
public:
    /// No cell extends beyond `end`.
    Cells(TextBuffer& to, const LineStyle& style, std::size_t end)
        : to_(to), style_(style), end_(end) {}

    /// Room for a cell at `column`, in characters.
    std::size_t room(std::size_t column) const { return end_ - std::min(end_, begin(column)); }

    /// `text` at `column`, cut so that the next cell can begin at `next`.
    void add(std::size_t column, std::string_view text, std::size_t next,
             std::string_view color = {}) {
        const std::size_t from = begin(column);
        const std::size_t to = std::min(next > 0 ? next - 1 : 0, end_);
        if (text.empty() || to < from + std::min(least_cell, width_of(text))) {
            return;
        }
        const std::string shown = cut(text, to - from);
        pad(from);
        to_.append(color.empty() ? shown : colored(style_, color, shown));
        at_ += width_of(shown);
    }

    /// Adds words after the last cell, uncut.
    void add_closing(std::string_view words, std::string_view color) {
        if (!words.empty()) {
            to_.append(std::string_view("  "));
            to_.append(color.empty() ? std::string(words) : colored(style_, color, words));
            at_ += 2 + width_of(words);
        }
    }

    void pad(std::size_t column) {
        for (; at_ < column; ++at_) {
            to_.append(' ');
        }
    }

private:
    // Cells are separated by a blank.
    std::size_t begin(std::size_t column) const {
        return std::max(column, at_ == time_and_cpu ? at_ : at_ + 1);
    }

    TextBuffer& to_;
    const LineStyle& style_;
    std::size_t end_;
    std::size_t at_ = time_and_cpu;
};

FittedLine::FittedLine(const LineStyle& style) : style_(style), columns_() {
    const bool roomy = style.width >= narrow;
    std::size_t device = 6;
    for (const auto& [whole, name] : style.short_names) {
        device = std::max(device, name.size());
    }
    const std::size_t place = style.raw ? 11 : roomy || style.named ? 14 : 10;
    columns_.device = time_and_cpu + 3;
    columns_.place = columns_.device + std::min<std::size_t>(device, roomy ? 14 : 9) + 1;
    columns_.value = columns_.place + place + 1;
    columns_.fields = columns_.value + 11;
    columns_.end = style.width - (style.duration ? std::min(took_width, style.width) : 0);
    const std::size_t rest = columns_.end - std::min(columns_.end, columns_.fields);
    const bool code = style.pc || style.task;
    const std::size_t fields = code ? rest * 2 / 5 : rest;
    columns_.code = columns_.fields + (style.raw || fields < least_fields ? 0 : fields);
}

std::string FittedLine::titles() const {
    TextBuffer line;
    line.append(fmt::format("{:>12} {:<4} ", "seconds", "cpu"));
    Cells cells(line, style_, style_.width);
    cells.add(time_and_cpu, "rw", columns_.device);
    cells.add(columns_.device, "device", columns_.place);
    cells.add(columns_.place, style_.raw ? "offset" : "register", columns_.value);
    cells.add(columns_.value, "value", columns_.fields);
    cells.add(columns_.fields, style_.raw ? "" : "fields", columns_.code);
    cells.add(columns_.code,
              style_.raw  ? "pc"
              : style_.pc ? "function <- caller [task]"
                          : "[task]",
              columns_.end + 1);
    if (style_.duration) {
        cells.add(columns_.end + 1, "<took>", style_.width + 1);
    }
    return std::string(line.view());
}

void FittedLine::add_code(Cells& cells, const Event& event) const {
    LineStyle plain = style_;
    plain.color = false;
    const bool own = event.record.type == RecordType::own;
    const std::string code = own ? "by the hypervisor" : without_blank(code_of(plain, event));
    const bool begun = event.record.type == RecordType::begin;
    const std::string task = own ? ""
                             : begun && (style_.raw || event.task_id() == no_id)
                                 ? fmt::format("[{:#010x}]", event.record.task)
                                 : without_blank(task_of(plain, event));
    const std::size_t room = cells.room(columns_.code);
    const std::size_t behind = task.empty() ? 0 : width_of(task) + 1;
    const bool with_task = std::min(width_of(code), least_code) + behind <= room;
    cells.add(columns_.code, code, columns_.code + room - (with_task ? behind : 0) + 1,
              color::code);
    if (with_task) {
        cells.add(columns_.code, task, columns_.code + room + 1);
    }
}

void FittedLine::append(TextBuffer& to, const Event& event, std::string_view more) const {
    const Record& record = event.record;
    const std::string words = words_of(style_, event);
    const std::size_t closing =
        width_of(words) + (words.empty() ? 0 : 2) + more.size() + (more.empty() ? 0 : 2);
    Cells cells(to, style_, columns_.end - std::min(columns_.end, closing));
    cells.add(time_and_cpu, direction_text(record), columns_.device,
              abi::is_write(record) ? color::write : color::read);
    cells.add(columns_.device, short_name(style_, event.device()), columns_.place);
    // Register and value come before what is behind them: function and task get what is left.
    const std::string value = record.type == RecordType::fault ? "" : value_of(event);
    cells.add(columns_.place, register_or_offset(style_, event),
              std::max(columns_.value, columns_.end - std::min(columns_.end, value.size())));
    if (record.type != RecordType::fault) {
        if (value.size() <= cells.room(columns_.value)) { // numbers are not cut
            cells.add(columns_.value, value, style_.width);
        }
        if (!style_.raw && value_known(event)) {
            cells.add(columns_.fields, meaning_text(event),
                      style_.width < narrow ? columns_.end + 1 : columns_.code);
        }
    }
    add_code(cells, event);
    cells.add_closing(words, color::bad);
    cells.add_closing(more, {});
    if (style_.duration && !is_begun(record)) {
        cells.pad(columns_.end + 1);
        to.append(duration_text(style_, record));
    }
}

void FittedLine::append_wrapped(TextBuffer& to, std::string_view words, std::size_t column) const {
    const std::size_t room = style_.width - std::min(column + 1, style_.width) + 1;
    std::size_t at = 0;
    while (!words.empty()) {
        std::string_view word = words.substr(0, std::min(words.find(' ') + 1, words.size()));
        word = word.empty() ? words : word;
        if (at > 0 && at + width_without_color(word) > room) {
            to.append('\n');
            to.append(std::string(column, ' '));
            at = 0;
        }
        to.append(word);
        at += width_without_color(word);
        words.remove_prefix(word.size());
    }
}

} // namespace mmioscope::view
