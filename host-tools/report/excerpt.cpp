#include "report/excerpt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace mmioscope::report {

namespace {

// Not addresses of the guest's code and stack, nor what the other columns say better.
exporting::Cells cells_of(const trace::TraceReader& reader) {
    exporting::Cells cells(reader);
    for (std::size_t i = 0; i < exporting::columns.size(); ++i) {
        for (const std::string_view left_out :
             {"ticks", "lr", "sp", "va", "mode", "task", "sequence", "order"}) {
            cells.known[i] = cells.known[i] && exporting::columns[i].column != left_out;
        }
    }
    return cells;
}

} // namespace

Spans spans_of(std::span<const std::uint64_t> chosen, std::uint64_t last) {
    const auto before = [](std::uint64_t number, std::uint64_t count) {
        return number > count ? number - count : 1;
    };
    Spans all{{1, std::min(events_at_ends, last)}, {before(last, events_at_ends - 1), last}};
    for (const std::uint64_t number : chosen) {
        all.emplace_back(before(number, events_around), number + events_around);
    }
    std::ranges::sort(all);
    Spans spans;
    for (const auto& [from, to] : all) {
        if (!spans.empty() && from <= spans.back().second + 1) {
            spans.back().second = std::max(spans.back().second, to);
        } else {
            spans.emplace_back(from, to);
        }
    }
    return spans;
}

Excerpt::Excerpt(Script& to, const trace::TraceReader& reader, Spans spans)
    : to_(to), spans_(std::move(spans)), rows_(exporting::RowForm::json, cells_of(reader)) {}

void Excerpt::add(const Event& event) {
    while (at_ < spans_.size() && event.number > spans_[at_].second) {
        ++at_;
    }
    if (at_ == spans_.size() || event.number < spans_[at_].first) {
        return;
    }
    fmt::format_to(std::back_inserter(to_.text()), "{}[{},", first_ ? "" : ",", event.number);
    rows_.append(to_.text(), event);
    to_.put("]");
    to_.settle();
    first_ = false;
}

} // namespace mmioscope::report
