// Interface of the formats that a trace is exported to.
#pragma once

#include "file/trace_reader.hpp"
#include "reading/consumer.hpp"

#include <string>
#include <vector>

namespace mmioscope::exporting {

class Exporter : public reading::Consumer {
public:
    /// The trace is a file at `path`, which the format may read once more to write a head that
    /// depends on all of it. Called before begin(); not called if the trace can be read only once.
    virtual void look_ahead(const std::string& /*path*/, bool /*one_file*/) {}

    /// Writes what comes before the events. Called once, first. `reader` outlives this.
    virtual void begin(const trace::TraceReader& reader) = 0;

    /// See Consumer. A loss is an event of type `gap`: `value` records of its CPU are missing, from
    /// `cpu_sequence` on.
    void add(const Event& event) override = 0;

    /// Adds the first event, with a text of words `key=value`.
    void add_derived(const DerivedEvent& derived) override;

    /// After the last event: `reader` knows the losses and how the recording ended. Throws Error if
    /// the output is incomplete.
    void finish() override = 0;

    /// What this format could not express, one line each. Call it after finish().
    virtual std::vector<std::string> left_out() const { return {}; }
};

} // namespace mmioscope::exporting
