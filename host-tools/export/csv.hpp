// Comma-separated values (RFC 4180, lines end with LF): the names of columns(), then one event per
// line.
#pragma once

#include "export/row_text.hpp"

namespace mmioscope::exporting {

/// The names of columns(), separated by commas.
std::string csv_titles();

class Csv : public Rows {
public:
    explicit Csv(Sink& sink) : Rows(sink, RowForm::csv) {}

    void begin(const trace::TraceReader& reader) override;
};

// CSV with all numbers in decimal, as spreadsheets and data frames read them.

class CsvDecimal : public Exporter {
public:
    explicit CsvDecimal(Sink& sink) : sink_(sink) {}

    void begin(const trace::TraceReader& reader) override;
    void add(const Event& event) override;
    void finish() override { sink_.flush(); }

private:
    Sink& sink_;
    Cells cells_;
};

} // namespace mmioscope::exporting
