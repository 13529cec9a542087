#include "lib/line_format.hpp"

#include "lib/change_text.hpp"
#include "lib/marker_text.hpp"
#include "lib/record_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace mmioscope::trace {

namespace {

void append_head(std::string& to, const abi::Record& record, const LineContext& context) {
    fmt::format_to(std::back_inserter(to), "{:>12} cpu{} ", format_time(record.time, context),
                   record.cpu);
}

// The region and the offset in it; the whole address where no region is named.
void append_place(std::string& to, const abi::Record& record, const LineContext& context) {
    const std::uint64_t pa = abi::physical_address(record);
    fmt::format_to(std::back_inserter(to), "{}{} {:<{}} ", abi::is_write(record) ? 'W' : 'R',
                   abi::access_size(record), (*context.names)[record.device],
                   context.names->width());
    const std::uint64_t offset = pa - context.names->base(record.device);
    fmt::format_to(std::back_inserter(to), "+{:#05x}", offset);
}

void append_value(std::string& to, const abi::Record& record) {
    const unsigned digits = std::min(abi::access_size(record), 8u) * 2;
    if ((record.flags & abi::flag_value_unknown) != 0) {
        fmt::format_to(std::back_inserter(to), " {:<10}", "?");
    } else {
        fmt::format_to(std::back_inserter(to), " {:<10}",
                       fmt::format("0x{:0{}x}", record.value, digits));
    }
}

void append_pc(std::string& to, const abi::Record& record) {
    fmt::format_to(std::back_inserter(to), " pc {:#010x}{}", record.pc, mode_text(record.mode));
}

void append_access(std::string& to, const abi::Record& record, const LineContext& context) {
    append_place(to, record, context);
    append_value(to, record);
    append_pc(to, record);
}

void append_power(std::string& to, const abi::Record& record) {
    const auto cpu = static_cast<unsigned>(record.value & 0xff);
    const auto event = static_cast<abi::PowerEvent>(record.value >> 8);
    const char* what = event == abi::PowerEvent::cpu_on         ? "cpu {} started at {:#x}"
                       : event == abi::PowerEvent::cpu_off      ? "cpu {} switched off at pc {:#x}"
                       : event == abi::PowerEvent::system_off   ? "machine off, cpu {} pc {:#x}"
                       : event == abi::PowerEvent::system_reset ? "machine reset, cpu {} pc {:#x}"
                                                                : "cpu {} power event at {:#x}";
    fmt::format_to(std::back_inserter(to), fmt::runtime(what), cpu, abi::physical_address(record));
}

// The region that a command was about, or what it said.
void append_change(std::string& to, const abi::Record& record, const LineContext& context) {
    to += "change " + change_text(record);
    if (record.device != abi::no_device) {
        fmt::format_to(std::back_inserter(to), " {}", (*context.names)[record.device]);
    }
}

void append_marker(std::string& to, const std::string& text) {
    to += "mark " + text;
}

} // namespace

std::string format_time(std::uint64_t ticks, const LineContext& context) {
    const std::uint64_t since = ticks - std::min(ticks, context.start);
    if (context.frequency == 0) {
        return fmt::format("{}t", since);
    }
    const std::uint64_t seconds = since / context.frequency;
    const std::uint64_t micros = since % context.frequency * 1'000'000 / context.frequency;
    return fmt::format("{}.{:06}", seconds, micros);
}

std::string line_titles(const LineContext& context) {
    return fmt::format("{:>12} {:<4} {:<2} {:<{}} {:<6} {:<10} {}", "seconds", "cpu", "rw",
                       "device", context.names->width(), "offset", "value", "pc");
}

void append_line(std::string& to, const Marker& marker, const LineContext& context) {
    append_head(to, marker.record, context);
    append_marker(to, marker.text);
}

void append_line(std::string& to, const abi::Record& record, const LineContext& context) {
    using abi::RecordType;
    append_head(to, record, context);
    switch (record.type) {
    case RecordType::access: append_access(to, record, context); return;
    case RecordType::gap:
        fmt::format_to(std::back_inserter(to), "{} records lost, from number {} on", record.value,
                       record.cpu_sequence);
        return;
    case RecordType::power: append_power(to, record); return;
    case RecordType::marker: append_marker(to, marker_text(record)); return;
    case RecordType::configuration: append_change(to, record, context); return;
    case RecordType::interrupt:
        fmt::format_to(std::back_inserter(to), "{} {}", type_text(record.type), record.value);
        return;
    case RecordType::fault:
        append_place(to, record, context);
        fmt::format_to(std::back_inserter(to), " {},", fault_text(record.value));
        append_pc(to, record);
        return;
    case RecordType::own:
        append_place(to, record, context);
        append_value(to, record);
        to += " by the hypervisor";
        return;
    case RecordType::begin:
        append_access(to, record, context);
        fmt::format_to(std::back_inserter(to), " task {:#x} (begun, no end recorded)", record.task);
        return;
    default:
        append_access(to, record, context);
        fmt::format_to(std::back_inserter(to), " ({})", type_text(record.type));
        return;
    }
}

} // namespace mmioscope::trace
