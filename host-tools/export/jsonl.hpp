// JSON, an object a line: the trace, its events, its end.
#pragma once

#include "export/columns.hpp"
#include "export/exporter.hpp"
#include "export/sink.hpp"

namespace mmioscope::exporting {

/// Appends `event` as an object, without a line end. Keys are the names of `columns` that have a
/// value; Hex is a string "0x..", since readers of JSON take numbers for doubles.
void append_json(fmt::memory_buffer& to, const Event& event, std::uint32_t frequency,
                 std::span<const Column> shown = columns());

class JsonLines : public Exporter {
public:
    explicit JsonLines(Sink& sink) : sink_(sink) {}

    void begin(const trace::TraceReader& reader) override;
    void add(const Event& event) override;
    void finish() override;

private:
    Sink& sink_;
    const trace::TraceReader* reader_ = nullptr;
    std::vector<Column> columns_;
    std::uint32_t frequency_ = 0;
};

} // namespace mmioscope::exporting
