// Events for programs: what --format jsonl and csv print.
#pragma once

#include "cli/view_options.hpp"
#include "export/formats.hpp"
#include "lib/marker_text.hpp"

#include <memory>

namespace mmioscope::cli {

/// The events alone; a marker's text is whole, with the last of its records.
class RecordOutput {
public:
    /// Goes to -o or standard output. Throws Error (bad_input) if that cannot be written.
    RecordOutput(const ViewOptions& options, const trace::TraceReader& reader);

    void add(const Event& event);

    /// Hands on what has come so far.
    void flush() { destination_->flush(); }

    /// There are no more.
    void finish();

private:
    std::unique_ptr<exporting::Destination> destination_;
    trace::MarkerTexts texts_;
};

} // namespace mmioscope::cli
