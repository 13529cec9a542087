// Comma-separated values (RFC 4180, lines end with LF): the names of columns(), then one event per
// line.
#pragma once

#include "export/columns.hpp"
#include "export/row_text.hpp"
#include "export/sink.hpp"

#include <optional>

namespace mmioscope::exporting {

/// The names of columns(), as the first line.
void put_titles(Sink& sink);

class Csv : public Exporter {
public:
    explicit Csv(Sink& sink) : sink_(sink) {}

    void begin(const trace::TraceReader& reader) override;
    void add(const Event& event) override { add_all({&event, 1}); }
    void add_all(std::span<const Event> events) override;
    void forget() override { rows_->forget(); }
    void finish() override;

private:
    Sink& sink_;
    std::optional<RowText> rows_; ///< set by begin()
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
    ColumnSet known_;
    trace::TickLength tick_{0};
};

} // namespace mmioscope::exporting
