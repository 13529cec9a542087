#include "export/csv.hpp"

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

} // namespace mmioscope::exporting
