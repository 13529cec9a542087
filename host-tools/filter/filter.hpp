// Which events are meant: the text behind -F, compiled once and asked for each event.
#pragma once

#include "filter/parser.hpp"
#include "filter/record_filter.hpp"
#include "lib/trace_reader.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace mmioscope::filter {

class Filter {
public:
    /// Throws Error (bad_input) that says where `text` is no filter.
    explicit Filter(std::string_view text, const Settings& settings = {});
    Filter(const Filter&) = delete;
    Filter& operator=(const Filter&) = delete;

    /// Learns what the trace knows and its events do not say: all names of its devices, and how
    /// long a tick is. Returns a line for each device that is asked for and that it has not.
    std::vector<std::string> bind(const trace::TraceReader& reader);

    /// Times are since `start` (CNTPCT).
    void start_at(std::uint64_t start) { context_.start = start; }

    /// False: it does not hold for the event of `record`, whatever names that has. Behind bind().
    bool may_hold(const abi::Record& record) const { return of_record_.may_hold(record); }

    /// Of an event whose record it may hold for.
    bool operator()(const Event& event) const {
        return may_hold(event.record) && (of_record_.decides() || holds(root_, event, context_));
    }

    /// Ids of events mean nothing from now on.
    void forget() { filter::forget(root_); }

    /// A text that is compiled to the same filter.
    std::string written() const { return filter::written(root_); }

private:
    Node root_;
    Context context_; ///< of_record_ knows where it is: neither copied nor moved
    RecordFilter of_record_;
};

} // namespace mmioscope::filter
