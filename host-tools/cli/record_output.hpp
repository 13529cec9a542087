// Events for programs: what --format jsonl and csv print.
#pragma once

#include "cli/view_options.hpp"
#include "export/formats.hpp"

#include <memory>

namespace mmioscope::cli {

class RecordOutput final : public reading::Consumer {
public:
    /// Writes to -o or standard output. Throws Error (bad_input) if it cannot.
    RecordOutput(const ViewOptions& options, const trace::TraceReader& reader);

    void add(const Event& event) override { destination_->exporter().add(event); }
    void add_all(std::span<const Event> events) override {
        destination_->exporter().add_all(events);
    }
    void add_derived(const DerivedEvent& derived) override {
        destination_->exporter().add_derived(derived);
    }
    void forget() override { destination_->exporter().forget(); }
    void flush() override { destination_->flush(); }
    void finish() override;

private:
    std::unique_ptr<exporting::Destination> destination_;
};

} // namespace mmioscope::cli
