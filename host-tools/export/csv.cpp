#include "export/csv.hpp"

#include "table/csv.hpp"

namespace mmioscope::exporting {

void put_titles(Sink& sink) {
    for (const Column& column : columns) {
        sink.put(column.name);
        sink.text().push_back(',');
    }
    sink.text().resize(sink.text().size() - 1);
    sink.text().push_back('\n');
}

void Csv::begin(const trace::TraceReader& reader) {
    const std::uint32_t frequency = reader.info() ? reader.info()->counter_frequency : 0;
    rows_.emplace(RowForm::csv, known_columns(reader), frequency);
    put_titles(sink_);
}

void Csv::add_all(std::span<const Event> events) {
    rows_->append_lines(sink_.text(), events);
    sink_.settle();
}

void Csv::finish() {
    sink_.flush();
}

void CsvDecimal::begin(const trace::TraceReader& reader) {
    known_ = known_columns(reader);
    tick_ = trace::TickLength(reader.info() ? reader.info()->counter_frequency : 0);
    put_titles(sink_);
}

void CsvDecimal::add(const Event& event) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
        sink_.put(i == 0 ? "" : ",");
        const Cell cell = known_[i] ? columns[i].cell(event, tick_) : Cell();
        if (const Hex* const number = std::get_if<Hex>(&cell)) {
            table::append_csv(sink_.text(), number->value);
        } else {
            table::append_csv(sink_.text(), cell);
        }
    }
    sink_.put("\n");
    sink_.settle();
}

} // namespace mmioscope::exporting
