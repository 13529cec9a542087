// Which events are meant: the text behind -F, compiled once and asked for each event.
#pragma once

#include "filter/parser.hpp"
#include "lib/trace_reader.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace mmioscope::filter {

class Filter {
public:
    /// Throws Error (bad_input) that says where `text` is no filter.
    explicit Filter(std::string_view text, const Settings& settings = {});

    /// Learns what the trace knows and its events do not say: all names of its devices, and how
    /// long a tick is. Returns a line for each device that is asked for and that it has not.
    std::vector<std::string> bind(const trace::TraceReader& reader);

    bool operator()(const Event& event) const { return holds(root_, event, context_); }

    /// A text that is compiled to the same filter.
    std::string written() const { return filter::written(root_); }

private:
    Node root_;
    Context context_;
};

} // namespace mmioscope::filter
