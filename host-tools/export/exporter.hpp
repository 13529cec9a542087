// Interface of the formats that a trace is exported to.
#pragma once

#include "file/trace_reader.hpp"
#include "reading/consumer.hpp"

#include <string>
#include <vector>

namespace mmioscope::exporting {

class Exporter : public reading::Consumer {
public:
    /// The trace is a file at `path`, which may be read once more for what a head has to tell of
    /// all of it. Called before begin(), and not at all where the trace comes front to back only.
    virtual void look_ahead(const std::string& /*path*/, bool /*one_file*/) {}

    /// What stands in front of the events; called once, first. `reader` outlives this.
    virtual void begin(const trace::TraceReader& reader) = 0;

    /// As it says there. A loss is an event of type `gap`: `value` records of its CPU are missing,
    /// from `cpu_sequence` on.
    void add(const Event& event) override = 0;

    /// Its first event, with a text of words `key=value`.
    void add_derived(const DerivedEvent& derived) override;

    /// There are no more: `reader` knows the losses and how the recording ended. Throws Error if
    /// what was written is not whole.
    void finish() override = 0;

    /// What this format could not hold of the trace, a line each, after finish().
    virtual std::vector<std::string> left_out() const { return {}; }
};

} // namespace mmioscope::exporting
