// JSON, one object per line: the trace, its events, its end.
#pragma once

#include "export/row_text.hpp"
#include "export/sink.hpp"

#include <optional>

namespace mmioscope::exporting {

class JsonLines : public Exporter {
public:
    explicit JsonLines(Sink& sink) : sink_(sink) {}

    void begin(const trace::TraceReader& reader) override;
    void add(const Event& event) override { add_all({&event, 1}); }
    void add_all(std::span<const Event> events) override;
    void forget() override { rows_->forget(); }
    void finish() override;

private:
    Sink& sink_;
    const trace::TraceReader* reader_ = nullptr;
    std::optional<RowText> rows_; ///< set by begin()
};

} // namespace mmioscope::exporting
