#include "view/fitted_line.hpp"

#include "records/record_text.hpp"
#include "view/event_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mmioscope::view {

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
