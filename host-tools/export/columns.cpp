#include "export/columns.hpp"

namespace mmioscope::exporting {

// A suffix after '_' is the column's unit, not part of its name.
Cells::Cells(const trace::TraceReader& reader)
    : Cells({}, reader.info() ? reader.info()->counter_frequency : 0) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
        known[i] = reader.knows(columns[i].column.substr(0, columns[i].column.find('_')));
    }
}

Cell Cells::of(std::size_t column, const Event& event) const {
    const Column& of = columns[column];
    if (!known[column] || of.cell != nullptr) {
        return known[column] ? of.cell(event) : Cell();
    }
    const Number number = of.number(event, context);
    return !number.known                  ? Cell()
           : of.unit == Column::Unit::hex ? Cell(Hex{number.value})
                                          : Cell(number.value);
}

} // namespace mmioscope::exporting
