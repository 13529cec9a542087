#include "cli/record_output.hpp"

namespace mmioscope::cli {

RecordOutput::RecordOutput(const ViewOptions& options, const trace::TraceReader& reader)
    : destination_(exporting::format_of(options.format)
                       .open(options.output.empty() ? "-" : options.output)) {
    destination_->exporter().begin(reader);
}

void RecordOutput::finish() {
    destination_->exporter().finish();
    destination_->finish();
}

} // namespace mmioscope::cli
