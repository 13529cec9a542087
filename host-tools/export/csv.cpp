#include "export/csv.hpp"

namespace mmioscope::exporting {

void Csv::begin(const trace::TraceReader& reader) {
    const std::uint32_t frequency = reader.info() ? reader.info()->counter_frequency : 0;
    rows_.emplace(RowForm::csv, known_columns(reader), frequency);
    for (const Column& column : columns) {
        sink_.put(column.name);
        sink_.text().push_back(',');
    }
    sink_.text().resize(sink_.text().size() - 1);
    sink_.text().push_back('\n');
}

void Csv::add_all(std::span<const Event> events) {
    rows_->append_lines(sink_.text(), events);
    sink_.settle();
}

void Csv::finish() {
    sink_.flush();
}

} // namespace mmioscope::exporting
