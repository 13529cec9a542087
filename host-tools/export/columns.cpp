#include "export/columns.hpp"

namespace mmioscope::exporting {

Cell Column::cell(const Event& event, const trace::TickLength& tick) const {
    if (cell_of != nullptr) {
        return cell_of(event, tick);
    }
    const Number number = number_of(event, tick);
    return number.as == Number::As::nothing ? Cell()
           : number.as == Number::As::hex   ? Cell(Hex{number.value})
                                            : Cell(number.value);
}

// A suffix after '_' is the column's unit, not part of its name.
ColumnSet known_columns(const trace::TraceReader& reader) {
    ColumnSet known;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        known[i] = reader.knows(columns[i].name.substr(0, columns[i].name.find('_')));
    }
    return known;
}

} // namespace mmioscope::exporting
