// JSON, one object per line: the trace, its events, its end.
#pragma once

#include "export/row_text.hpp"

namespace mmioscope::exporting {

class JsonLines : public Rows {
public:
    explicit JsonLines(Sink& sink) : Rows(sink, RowForm::json) {}

    void begin(const trace::TraceReader& reader) override;
    void finish() override;

private:
    const trace::TraceReader* reader_ = nullptr;
};

} // namespace mmioscope::exporting
