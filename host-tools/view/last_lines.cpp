#include "view/last_lines.hpp"

#include <fmt/format.h>

#include <utility>

namespace mmioscope::view {

LastLines::LastLines(std::FILE* out, const KnownBoot& boot, Style style)
    : out_(out), style_(std::move(style)), frequency_(boot.area.header().counter_frequency),
      width_(tree::DeviceNames(boot.area.regions(), boot.tree).width()) {}

void LastLines::begin_unfinished(bool any) {
    fmt::print(out_, "unfinished: {}\n", any ? "" : "nothing");
}

void LastLines::begin_finished(std::size_t count) {
    fmt::print(out_, "the last {} before:\n", count);
}

void LastLines::begin(State state, const trace::TraceReader& reader) {
    if (!format_) {
        LineStyle style = style_(reader);
        style.task = false; // appended to each line
        format_.emplace(style);
    }
    if (state == State::finished) {
        fmt::print(out_, "{}\n", format_->titles());
    }
}

// For a finished access only the task's address is known: its name was in memory that now has other
// data. A begin record contains the address itself.
void LastLines::add(const Event& event, State state) {
    if (state == State::in_flight) {
        fmt::print(out_, "{}\n", in_flight(event));
        return;
    }
    TextBuffer line;
    format_->append(line, event);
    const bool with_task = state == State::finished && event.record.type != abi::RecordType::marker;
    fmt::print(out_, "{}{}\n", line.view(),
               with_task ? fmt::format(" task {:#x}", event.record.task) : "");
}

std::string LastLines::in_flight(const Event& event) const {
    const abi::Record& record = event.record;
    LineStyle style;
    style.frequency = frequency_;
    TextBuffer time;
    LineFormat(style).append_time(time, static_cast<std::int64_t>(event.nanoseconds), record.time);
    return fmt::format("{} cpu{} ?? {:<{}} +{:#05x} {:<10} {}(in flight; no begin record)",
                       time.view(), record.cpu, event.device(), width_, event.offset(), "?",
                       record.pc == 0 ? "" : fmt::format("pc {:#010x} ", record.pc));
}

} // namespace mmioscope::view
