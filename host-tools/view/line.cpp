#include "view/line.hpp"

#include "lib/record_text.hpp"
#include "registers/fields_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>

namespace mmioscope::view {

namespace {

using abi::Record;
using abi::RecordType;

// Columns grow with what they hold, up to here; what is longer moves the rest of its line.
constexpr std::size_t widest_place = 14;
constexpr std::size_t widest_fields = 24;

constexpr char read_color[] = "32";
constexpr char write_color[] = "33";
constexpr char bad_color[] = "31";
constexpr char code_color[] = "36";
constexpr char mark_color[] = "1";

template <typename... Args>
void format_to(std::string& to, fmt::format_string<Args...> text, Args&&... args) {
    fmt::format_to(std::back_inserter(to), text, std::forward<Args>(args)...);
}

std::string power_text(const Record& record) {
    const auto cpu = static_cast<unsigned>(record.value & 0xff);
    const auto event = static_cast<abi::PowerEvent>(record.value >> 8);
    const char* what = event == abi::PowerEvent::cpu_on         ? "cpu {} started at {:#x}"
                       : event == abi::PowerEvent::cpu_off      ? "cpu {} switched off at pc {:#x}"
                       : event == abi::PowerEvent::system_off   ? "machine off, cpu {} pc {:#x}"
                       : event == abi::PowerEvent::system_reset ? "machine reset, cpu {} pc {:#x}"
                                                                : "cpu {} power event at {:#x}";
    return fmt::format(fmt::runtime(what), cpu, abi::physical_address(record));
}

std::string micros(std::int64_t nanoseconds) {
    const auto size = static_cast<std::uint64_t>(std::llabs(nanoseconds)) / 1000;
    return fmt::format("{}{}.{:06}", nanoseconds < 0 ? "-" : "", size / 1'000'000,
                       size % 1'000'000);
}

bool value_known(const Event& event) {
    return (event.record.flags & abi::flag_value_unknown) == 0;
}

} // namespace

// Of a module it may be known only where it lies.
std::string code_text(const Location& location) {
    const std::string module = location.module.empty() ? "" : fmt::format("[{}]", location.module);
    const std::string between = location.function.empty() || module.empty() ? "" : " ";
    const std::string place = fmt::format("+{:#x}", location.offset);
    return location.function.empty() ? module + place
                                     : location.function + place + between + module;
}

std::string function_text(const Location& location) {
    return location.function.empty() ? fmt::format("[{}]", location.module) : location.function;
}

LineStyle style_of(const trace::TraceReader& reader) {
    LineStyle style;
    style.frequency = reader.info() ? reader.info()->counter_frequency : 0;
    style.device_width = reader.names().width();
    style.pc = reader.knows("pc");
    style.task = reader.knows("task");
    return style;
}

std::string LineFormat::titles() const {
    return fmt::format("{:>12} {:<4} {:<2} {:<{}} {:<{}} {:<10}{}", "seconds", "cpu", "rw",
                       "device", style_.device_width, "offset", place_width_, "value",
                       style_.pc ? " pc" : "");
}

std::string LineFormat::time(std::int64_t nanoseconds, std::uint64_t ticks) {
    const std::int64_t before = std::exchange(before_, nanoseconds).value_or(nanoseconds);
    const std::int64_t shown = style_.time == TimeStyle::delta ? nanoseconds - before : nanoseconds;
    if (style_.frequency == 0) {
        return fmt::format(
            "{}t", style_.time == TimeStyle::absolute ? static_cast<std::int64_t>(ticks) : shown);
    }
    if (style_.time == TimeStyle::absolute) {
        return fmt::format("{}.{:06}", ticks / style_.frequency,
                           ticks % style_.frequency * 1'000'000 / style_.frequency);
    }
    return micros(shown);
}

void LineFormat::colored(std::string& to, const char* color, const std::string& text) const {
    to += style_.color ? fmt::format("\x1b[{}m{}\x1b[m", color, text) : text;
}

void LineFormat::append_place(std::string& to, const Event& event) {
    const bool write = abi::is_write(event.record);
    colored(to, write ? write_color : read_color,
            fmt::format("{}{}", write ? 'W' : 'R', abi::access_size(event.record)));
    const bool named = !style_.raw && event.reg() != nullptr;
    const std::string place = named ? registers::register_text(*event.reg(), event.offset())
                                    : fmt::format("+{:#05x}", event.offset());
    if (named) {
        place_width_ = std::max(place_width_, std::min(place.size(), widest_place));
    }
    format_to(to, " {:<{}} {:<{}}", event.device(), style_.device_width, place, place_width_);
}

void LineFormat::append_value(std::string& to, const Event& event) {
    const unsigned digits = std::min(abi::access_size(event.record), 8u) * 2;
    format_to(to, " {:<10}",
              value_known(event) ? fmt::format("0x{:0{}x}", event.record.value, digits) : "?");
}

void LineFormat::append_fields(std::string& to, const Event& event) {
    std::string text;
    if (!style_.raw && event.reg() != nullptr && value_known(event)) {
        text =
            registers::fields_text(*event.reg(), event.record.value, abi::access_size(event.record),
                                   static_cast<unsigned>(event.offset() - event.reg()->offset));
    }
    if (!style_.raw && !event.interrupt().empty()) {
        text += fmt::format("{}<{}>", text.empty() ? "" : " ", event.interrupt());
    }
    fields_width_ = std::max(fields_width_, std::min(text.size(), widest_fields));
    if (fields_width_ > 0) {
        format_to(to, " {:<{}}", text, fields_width_);
    }
}

void LineFormat::append_code(std::string& to, const Event& event) const {
    const Record& record = event.record;
    if (style_.pc && (style_.raw || event.code() == nullptr)) {
        format_to(to, " pc {:#010x}{}", record.pc, trace::mode_text(record.mode));
    } else if (style_.pc) {
        to += ' ';
        colored(to, code_color, code_text(*event.code()));
        to += trace::mode_text(record.mode);
    }
    if (style_.pc && !style_.raw && event.caller() != nullptr) {
        format_to(to, " <- {}", function_text(*event.caller()));
    }
    append_task(to, event);
}

// What is to be left out with code addresses is the address of a stack, too, which stands there in
// User mode.
void LineFormat::append_task(std::string& to, const Event& event) const {
    const Record& record = event.record;
    const bool begun = record.type == RecordType::begin; // says it in its own words
    if (!style_.raw && event.task() != nullptr) {
        format_to(to, " [{}:{}]", event.task()->comm, event.task()->pid);
    } else if (style_.task && !begun &&
               (style_.raw ? style_.pc || !trace::in_user_mode(record)
                           : trace::may_be_task(record))) {
        format_to(to, " [{:#010x}]", record.task);
    }
}

void LineFormat::append_access(std::string& to, const Event& event) {
    append_place(to, event);
    append_value(to, event);
    append_fields(to, event);
    append_code(to, event);
}

// Records that tell of something else than a guest's access that went well.
void LineFormat::append_rest(std::string& to, const Event& event) {
    const Record& record = event.record;
    switch (record.type) {
    case RecordType::fault:
        append_place(to, event);
        colored(to, bad_color, fmt::format(" {},", event.text()));
        append_code(to, event);
        return;
    case RecordType::own:
        append_place(to, event);
        append_value(to, event);
        to += " by the hypervisor";
        return;
    case RecordType::begin:
        append_access(to, event);
        if (style_.raw || event.task() == nullptr) {
            format_to(to, " task {:#x}", record.task);
        }
        colored(to, bad_color, " (begun, no end recorded)");
        return;
    default:
        append_access(to, event);
        format_to(to, " ({})", trace::type_text(record.type));
        return;
    }
}

void LineFormat::append(std::string& to, const Event& event) {
    const Record& record = event.record;
    format_to(to, "{:>12} cpu{} ", time(static_cast<std::int64_t>(event.nanoseconds), record.time),
              record.cpu);
    append_event(to, event);
    if (style_.duration && trace::has_place(record.type) && record.type != RecordType::begin) {
        append_duration(to, record);
    }
}

// As strace -T, but for the digits: many an access takes less than 1 us.
void LineFormat::append_duration(std::string& to, const Record& record) const {
    const char* const about = (record.flags & abi::flag_estimated) != 0 ? "~" : "";
    if (style_.frequency == 0) {
        format_to(to, " <{}{}t>", about, record.duration);
    } else {
        const std::uint64_t nanoseconds =
            std::uint64_t{record.duration} * 1'000'000'000 / style_.frequency;
        format_to(to, " <{}{}.{:09}>", about, nanoseconds / 1'000'000'000,
                  nanoseconds % 1'000'000'000);
    }
}

void LineFormat::append_event(std::string& to, const Event& event) {
    const Record& record = event.record;
    switch (record.type) {
    case RecordType::access: append_access(to, event); return;
    case RecordType::gap:
        colored(
            to, bad_color,
            fmt::format("{} records lost, from number {} on", record.value, record.cpu_sequence));
        return;
    case RecordType::power: to += power_text(record); return;
    case RecordType::marker: colored(to, mark_color, fmt::format("mark {}", event.text())); return;
    case RecordType::task: format_to(to, "task {}", event.text()); return;
    case RecordType::configuration: // the region that a command was about, or what it said
        format_to(to, "change {}", event.text());
        if (record.device != abi::no_device) {
            format_to(to, " {}", event.device());
        }
        return;
    case RecordType::interrupt:
        format_to(to, "{} {}", trace::type_text(record.type), record.value);
        to += event.interrupt().empty() ? "" : fmt::format(" {}", event.interrupt());
        return;
    default: append_rest(to, event); return;
    }
}

} // namespace mmioscope::view
