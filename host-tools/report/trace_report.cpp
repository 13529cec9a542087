#include "report/trace_report.hpp"

#include "analysis/count_table.hpp"
#include "report/excerpt.hpp"
#include "view/info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>

namespace mmioscope::report {

namespace {

using analysis::Key;

class Counting final : public reading::Consumer {
public:
    Counting(analysis::Counts& counts, TraceExtent& extent) : counts_(counts), extent_(extent) {}

    void add(const Event& event) override { add_all({&event, 1}); }
    void add_all(std::span<const Event> events) override {
        counts_.add(events);
        extent_.begin = std::min(extent_.begin, events.front().nanoseconds);
        extent_.end = std::max(extent_.end, events.back().nanoseconds);
        extent_.last = std::max(extent_.last, events.back().number);
    }
    void forget() override { counts_.forget(); }

private:
    analysis::Counts& counts_;
    TraceExtent& extent_;
};

} // namespace

TraceReport::TraceReport(const reading::TraceOptions& options)
    : options_(options), trace_(options), tally_(reading::selects(options)),
      counts_(analysis::all_keys(), analysis::most_names) {}

void TraceReport::read(reading::DriveOptions how, reading::Consumer* other) {
    how.losses = reading::Losses::all;
    Counting counting(counts_, extent_);
    reading::drive(trace_,
                   {&tally_, &timeline_, &values_, &time_, &polls_, &phases_, &sharing_,
                    &registers_, &counting, other},
                   how);
}

void TraceReport::put_tables(Script& to, std::vector<std::uint64_t>& events) {
    bool first = true;
    const auto put = [&](std::string_view name, const table::Table& table) {
        fmt::format_to(std::back_inserter(to.text()),
                       "{}\"{}\":", std::exchange(first, false) ? "" : ",", name);
        put_table(to, table, events);
    };
    const std::uint32_t frequency = reader().info() ? reader().info()->counter_frequency : 0;
    const bool timed = frequency != 0 && reader().knows("duration");
    const std::vector<table::Table> head =
        view::head_tables(reader(), tally_.summary(), extent_.end);
    put("facts", head[0]);
    put("texts", head[1]);
    put("losses", head[2]);
    if (timed) {
        put("time", time_.table(frequency));
    }
    put("polls", polls_.table(most_rows));
    put("phases", phases_.table());
    put("sharing", sharing_.table(most_rows / 5));
    put("regs", registers_.table());
    const analysis::TableOptions look{timed ? analysis::Order::time : analysis::Order::accesses,
                                      most_rows,
                                      frequency == 0 ? 0 : extent_.length(),
                                      0,
                                      timed ? frequency : 0,
                                      true,
                                      nullptr};
    for (const Key key : counts_.keys()) {
        put(fmt::format("by {}", analysis::key_text(key)),
            analysis::count_table(key, counts_.by(key), look));
    }
}

void TraceReport::write(Script& to, std::vector<std::uint64_t> chosen, reading::DriveOptions how) {
    const auto number = [&to](std::string_view name, std::uint64_t value) {
        fmt::format_to(std::back_inserter(to.text()), ",\"{}\":{}", name, value);
    };
    to.put("{\"file\":");
    to.string(options_.path);
    to.put(",\"verdict\":");
    to.string(verdict());
    to.put(status() == Status::fine ? ",\"whole\":true" : ",\"whole\":false");
    number("begin", extent_.end - extent_.length());
    number("end", extent_.end);
    number("last", extent_.last);
    number("hz",
           reader().info() && reader().knows("duration") ? reader().info()->counter_frequency : 0);
    number("lanes_left_out", timeline_.left_out());
    number("values_left_out", values_.left_out());
    fmt::format_to(std::back_inserter(to.text()),
                   ",\"excerpts\":{{\"ends\":{},\"around\":{},\"rows\":{},\"slowest\":{}}}",
                   events_at_ends, events_around, rows_with_excerpts, most_slowest);
    to.put(",\"lanes\":");
    put_lanes(to, timeline_);
    to.put(",\"marks\":");
    put_marks(to, timeline_);
    to.put(",\"values\":");
    put_values(to, values_);
    to.put(",\"tables\":{");
    put_tables(to, chosen);
    to.put("},\"events\":[");
    const std::vector<std::uint64_t> slowest = timeline_.slowest(most_slowest);
    chosen.insert(chosen.end(), slowest.begin(), slowest.end());
    reading::TraceOptions again = options_;
    again.report = [](const std::string&) {}; // the first reading has reported it
    reading::Trace trace(again);
    Excerpt excerpt(to, trace.reader(), spans_of(chosen, extent_.last));
    reading::drive(trace, {&excerpt}, how);
    to.put("]}");
}

} // namespace mmioscope::report
