// CSV with all numbers in decimal, as spreadsheets and data frames read them.
#pragma once

#include "export/columns.hpp"
#include "export/exporter.hpp"
#include "export/sink.hpp"

namespace mmioscope::exporting {

class CsvDecimal : public Exporter {
public:
    explicit CsvDecimal(Sink& sink) : sink_(sink) {}

    void begin(const trace::TraceReader& reader) override;
    void add(const Event& event) override;
    void finish() override { sink_.flush(); }

private:
    Sink& sink_;
    ColumnSet known_;
    trace::TickLength tick_{0};
};

} // namespace mmioscope::exporting
