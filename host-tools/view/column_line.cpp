#include "view/column_line.hpp"

#include "import/importing.hpp"
#include "records/kinds.hpp"
#include "records/record_text.hpp"
#include "registers/fields_text.hpp"
#include "table/table.hpp"
#include "view/event_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mmioscope::view {

namespace {

using abi::RecordType;

constexpr std::size_t column_count = column_names.size();

// The least important one last.
constexpr std::array<Column, column_count> by_weight = {
    Column::reg,    Column::value,  Column::time,     Column::rw,     Column::cpu, Column::duration,
    Column::device, Column::fields, Column::function, Column::caller, Column::task};

std::size_t width_of_column(const LineStyle& style, Column column) {
    switch (column) {
    case Column::time: return 12;
    case Column::cpu: return 4;
    case Column::rw: return 2;
    case Column::device: {
        std::size_t width = style.short_names.empty() ? style.device_width : 6;
        for (const auto& [whole, name] : style.short_names) {
            width = std::max(width, name.size());
        }
        return width;
    }
    case Column::reg: return std::max<std::size_t>(place_width(style), 8);
    case Column::value: return style.changes ? 24 : 10;
    case Column::fields: return fields_width;
    case Column::function: return 24;
    case Column::caller: return 20;
    case Column::task: return 16;
    case Column::duration: return 14;
    }
    return 0;
}

// Both with as many digits as the longer one takes.
std::string change_text(std::uint64_t before, std::uint64_t now) {
    const unsigned digits = std::max(TextCursor::hex_digits(before), TextCursor::hex_digits(now));
    return hex_text(before, digits) + " -> " + hex_text(now, digits);
}

std::string_view color_of(Column column, const Event& event) {
    return column == Column::rw         ? (abi::is_write(event.record) ? color::write : color::read)
           : column == Column::function ? color::code
                                        : std::string_view();
}

} // namespace

ColumnLine::ColumnLine(const LineStyle& style) : style_(style), color_(style.color) {
    style_.color = false;
    std::size_t all = 0;
    for (const Column column : style.columns) {
        columns_.push_back({column, width_of_column(style, column)});
        all += columns_.back().width + (all == 0 ? 0 : 1);
    }
    for (auto least = by_weight.rbegin(); least != by_weight.rend(); ++least) {
        for (Placed& placed : columns_) {
            if (placed.column == *least && all > style.width) {
                const std::size_t left = placed.width - std::min(placed.width, all - style.width);
                const std::size_t gone = left < least_cell ? placed.width + 1 : placed.width - left;
                placed.width = left < least_cell ? 0 : left;
                all -= std::min(all, gone);
            }
        }
    }
    std::erase_if(columns_, [](const Placed& placed) { return placed.width == 0; });
}

bool ColumnLine::has(const Event& event) {
    return trace::has_place(event.record.type) && event.record.type != RecordType::begin;
}

std::string ColumnLine::titles() const {
    std::string line;
    std::size_t at = 0;
    for (const Placed& placed : columns_) {
        const std::string_view name = column_names[static_cast<std::size_t>(placed.column)];
        line.append(at - std::min(at, line.size()), ' ');
        line += placed.column == Column::time ? fmt::format("{:>{}}", "seconds", placed.width)
                                              : cut(name, placed.width);
        at += placed.width + 1;
    }
    return line;
}

std::string ColumnLine::cell(Column column, const Event& event,
                             std::optional<std::uint64_t> before) const {
    const abi::Record& record = event.record;
    const bool own = record.type == RecordType::own;
    const bool has_value = record.type != RecordType::fault;
    switch (column) {
    case Column::time: return "";
    case Column::cpu: return fmt::format("cpu{}", record.cpu);
    case Column::rw: return direction_text(record);
    case Column::device: return std::string(short_name(style_, event.device()));
    case Column::reg: return register_or_offset(style_, event);
    case Column::value:
        return !has_value ? "" : before ? change_text(*before, record.value) : value_of(event);
    case Column::fields:
        if (style_.raw || !has_value || !value_known(event)) {
            return "";
        }
        return before
                   ? with_carried_out(registers::changes_text(event.place(), *before, record.value,
                                                              abi::access_size(record)),
                                      event)
                   : meaning_text(event);
    case Column::function:
        return own ? "by the hypervisor" : function_of(style_, event).erase(0, style_.pc ? 1 : 0);
    case Column::caller: return own ? "" : caller_of(style_, event);
    case Column::task: return own ? "" : task_of(style_, event).erase(0, 1);
    case Column::duration: return style_.duration ? duration_text(style_, record) : "";
    }
    return "";
}

// Register and value are whole as long as the line has room for them.
void ColumnLine::append(TextBuffer& to, std::string_view time, const Event& event,
                        std::string_view more, std::optional<std::uint64_t> before) const {
    const std::string words = words_of(style_, event);
    std::string closing;
    for (const std::string_view part : {std::string_view(words), more}) {
        closing += part.empty() ? "" : fmt::format("  {}", part);
    }
    const std::size_t end = style_.width - std::min(style_.width, width_of(closing));
    std::size_t column = 0; // where the next cell begins
    std::size_t at = 0;
    for (const Placed& placed : columns_) {
        const std::size_t begin = at == 0 ? column : std::max(column, at + 1);
        const bool whole = style_.width == SIZE_MAX || placed.column == Column::reg ||
                           placed.column == Column::value;
        const std::size_t room = std::min(end - std::min(end, begin), whole ? end : placed.width);
        const std::string text =
            placed.column == Column::time ? std::string(time) : cell(placed.column, event, before);
        column += placed.width + 1;
        const std::size_t least = placed.column == Column::value ? SIZE_MAX : least_cell;
        if (text.empty() || room < std::min(least, width_of(text))) { // numbers are not cut
            continue;
        }
        const std::string shown = cut(text, room);
        to.pad_to(begin, at);
        const std::string_view color = color_of(placed.column, event);
        to.append(color_ && !color.empty() ? fmt::format("\x1b[{}m{}\x1b[m", color, shown) : shown);
        at = begin + width_of(shown);
    }
    to.append(closing);
}

LineStyle style_of(const trace::TraceReader& reader) {
    LineStyle style;
    style.frequency = reader.info() ? reader.info()->counter_frequency : 0;
    style.device_width = reader.names().width();
    style.named = !reader.tree().empty();
    style.pc = reader.knows("pc");
    style.task = reader.knows("task");
    style.pc_high = importing::pc_high(reader.text());
    return style;
}

tree::ShortNames short_names(const trace::TraceReader& reader, std::size_t width) {
    return width == table::unlimited
               ? tree::ShortNames()
               : tree::short_names(reader.names(), reader.regions(), reader.tree());
}

void fit(LineStyle& style, const trace::TraceReader& reader, std::size_t width) {
    style.width = width;
    style.short_names = short_names(reader, width);
}

} // namespace mmioscope::view
