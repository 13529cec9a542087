#include "export/csv.hpp"

#include "table/csv.hpp"

namespace mmioscope::exporting {

void append_csv(fmt::memory_buffer& to, const Event& event, std::uint32_t frequency,
                std::span<const Column> shown) {
    bool first = true;
    for (const Column& column : shown) {
        if (!first) {
            to.push_back(',');
        }
        first = false;
        table::append_csv(to, column.cell(event, frequency));
    }
}

void Csv::begin(const trace::TraceReader& reader) {
    frequency_ = reader.info() ? reader.info()->counter_frequency : 0;
    columns_ = columns_of(reader);
    for (const Column& column : columns_) {
        sink_.put(column.name);
        sink_.text().push_back(',');
    }
    sink_.text().resize(sink_.text().size() - 1);
    sink_.text().push_back('\n');
}

void Csv::add(const Event& event) {
    append_csv(sink_.text(), event, frequency_, columns_);
    sink_.text().push_back('\n');
    sink_.settle();
}

void Csv::finish() {
    sink_.flush();
}

} // namespace mmioscope::exporting
