#include "export/csv.hpp"

#include "table/csv.hpp"

namespace mmioscope::exporting {

std::string csv_titles() {
    std::string titles;
    for (const Column& column : columns) {
        titles.append(titles.empty() ? "" : ",").append(column.column);
    }
    return titles;
}

void Csv::begin(const trace::TraceReader& reader) {
    Rows::begin(reader);
    sink_.put(csv_titles() + "\n");
}

void CsvDecimal::begin(const trace::TraceReader& reader) {
    cells_ = Cells(reader);
    sink_.put(csv_titles() + "\n");
}

void CsvDecimal::add(const Event& event) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
        sink_.put(i == 0 ? "" : ",");
        const Cell cell = cells_.of(i, event);
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
