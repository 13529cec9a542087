// Writes a trace as a page: what `open` and `report` share.
#pragma once

#include "cli/view_options.hpp"
#include "export/formats.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace mmioscope::cli {

/// The options of both: what to read, and which part of it.
void add_page_options(CLI::App& command, ViewOptions& options);

/// Writes the page to `path`, and prints the trace's verdict on standard error. A trace of which
/// only a part is chosen, or which is not one packed file, is made one first, beside the page.
/// `command` is for messages. Throws Error.
Status write_page(const ViewOptions& options, const std::string& path, std::string_view command);

// Events for programs: what --format jsonl and csv print.

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
