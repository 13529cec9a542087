#include "view/printer.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

namespace mmioscope::view {

namespace {

constexpr std::uint64_t quarter_second = 250'000'000;

// Without a frequency an event's time is in ticks, and no window can be told.
std::uint64_t window(const LineStyle& style) {
    return style.frequency == 0 ? 0 : quarter_second;
}

} // namespace

Printer::Printer(std::FILE* out, const PrintOptions& options, const LineStyle& style)
    : out_(out), options_(options), format_(style),
      collapse_(window(style),
                [this](const Run& run) { print(run.first.event(), run.count, run.last.value); }),
      frequency_(style.frequency) {}

// Of a begin record there is a line only if it is all there is of its access. The pieces of a
// marker's text may be of several CPUs.
void Printer::add(const Event& event) {
    const abi::Record& record = *event.record;
    last_ = {event.nanoseconds, record.time};
    keep_begun(event);
    if (record.type == abi::RecordType::marker) {
        if (const std::optional<trace::Marker> marker = markers_.add(record)) {
            print(*marker);
        }
    } else if (is_shown(record.type)) {
        show(event);
    }
}

// What a task is called stands beside its accesses.
bool Printer::is_shown(abi::RecordType type) const {
    return type != abi::RecordType::begin && (format_.raw() || type != abi::RecordType::task);
}

void Printer::keep_begun(const Event& event) {
    const unsigned cpu = event.record->cpu;
    const bool unended = begun_.add(*event.record).has_value();
    if (const auto held = begun_events_.extract(cpu); unended && held) {
        show(held.mapped().event());
    }
    if (event.record->type == abi::RecordType::begin) {
        begun_events_.emplace(cpu, event);
    }
}

void Printer::show(const Event& event) {
    if (lines_ >= options_.limit) {
        not_printed_ += event.record->type == abi::RecordType::access ? 1 : 0;
    } else if (options_.collapse) {
        collapse_.add(event);
    } else {
        print(event, 1, event.record->value);
    }
}

void Printer::add(std::int64_t nanoseconds, std::uint64_t ticks, const std::string& words) {
    collapse_.flush();
    if (begin_line()) {
        line_ += fmt::format("{:>12} {}", format_.time(nanoseconds, ticks), words);
        end_line();
    }
}

void Printer::next_part() {
    flush();
    for (auto& [cpu, held] : begun_events_) {
        held.forget_names();
    }
}

void Printer::finish() {
    for (const auto& [cpu, held] : begun_events_) {
        show(held.event());
    }
    for (const trace::Marker& marker : markers_.open()) {
        print(marker);
    }
    flush();
}

void Printer::flush() {
    collapse_.flush();
    std::fflush(out_);
}

// False: no line any more.
bool Printer::begin_line() {
    if (lines_ >= options_.limit) {
        return false;
    }
    line_ = lines_++ == 0 ? format_.titles() + "\n" : "";
    return true;
}

void Printer::end_line() {
    line_ += '\n';
    std::fwrite(line_.data(), 1, line_.size(), out_);
}

void Printer::print(const Event& first, std::uint64_t count, std::uint64_t last_value) {
    if (!begin_line()) {
        not_printed_ += first.record->type == abi::RecordType::access ? count : 0;
        return;
    }
    format_.append(line_, first);
    if (count > 1) {
        fmt::format_to(std::back_inserter(line_), "  x{}", count);
    }
    if (count > 1 && last_value != first.record->value) {
        fmt::format_to(std::back_inserter(line_), ", last {:#x}", last_value);
    }
    end_line();
}

// Pieces of a text may be of several CPUs: it is whose last piece it has, which may have come a
// while ago if its end never did.
void Printer::print(const trace::Marker& marker) {
    collapse_.flush();
    if (begin_line()) {
        const auto ticks = static_cast<std::int64_t>(last_.ticks - marker.record.time);
        const double factor = frequency_ == 0 ? 1 : 1e9 / frequency_;
        const std::int64_t ago = std::llround(static_cast<double>(ticks) * factor);
        Event event;
        event.record = &marker.record;
        event.nanoseconds = last_.nanoseconds - static_cast<std::uint64_t>(ago);
        event.text = marker.text;
        format_.append(line_, event);
        end_line();
    }
}

} // namespace mmioscope::view
