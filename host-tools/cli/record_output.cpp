#include "cli/record_output.hpp"

namespace mmioscope::cli {

RecordOutput::RecordOutput(const ViewOptions& options, const trace::TraceReader& reader)
    : destination_(exporting::open_destination(options.format,
                                               options.output.empty() ? "-" : options.output)) {
    destination_->exporter().begin(reader);
}

void RecordOutput::add(const Event& event) {
    if (event.record->type != abi::RecordType::marker) {
        destination_->exporter().add(event);
        return;
    }
    Event shown = event;
    const std::optional<trace::Marker> marker = texts_.add(*event.record);
    shown.text = marker ? std::string_view(marker->text) : std::string_view();
    destination_->exporter().add(shown);
}

void RecordOutput::finish() {
    destination_->exporter().finish();
    destination_->finish();
}

} // namespace mmioscope::cli
