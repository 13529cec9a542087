// Comma-separated values (RFC 4180, lines end with LF): the names of columns(), then an event a
// line.
#pragma once

#include "export/columns.hpp"
#include "export/exporter.hpp"
#include "export/sink.hpp"

namespace mmioscope::exporting {

/// Appends `event`, without a line end.
void append_csv(fmt::memory_buffer& to, const Event& event, std::uint32_t frequency,
                std::span<const Column> shown = columns());

class Csv : public Exporter {
public:
    explicit Csv(Sink& sink) : sink_(sink) {}

    void begin(const trace::TraceReader& reader) override;
    void add(const Event& event) override;
    void finish() override;

private:
    Sink& sink_;
    std::uint32_t frequency_ = 0;
    std::vector<Column> columns_;
};

} // namespace mmioscope::exporting
