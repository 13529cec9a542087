#include "view/tables.hpp"
#include "system/escape.hpp"
#include "table/csv.hpp"

namespace mmioscope::view {

namespace {

using table::Cell;
using table::Table;

Cell plain(const Cell& cell) {
    const std::string* const text = std::get_if<std::string>(&cell);
    return text != nullptr ? Cell(printable(*text)) : cell;
}

void append(Table& to, const Table& from, const std::vector<Cell>& row) {
    Cell about;
    Cell name;
    for (std::size_t i = 0; i < row.size(); ++i) {
        const std::string_view property = from.columns[i].name;
        if (property == "about") {
            about = row[i];
        } else if (property == "name") {
            name = plain(row[i]);
        } else if (!property.empty() && !std::holds_alternative<std::monostate>(row[i])) {
            to.rows.push_back({about, name, property, plain(row[i])});
        }
    }
}

} // namespace

std::string property_csv(std::span<const Table> tables) {
    Table all{{{"about"}, {"name"}, {"property"}, {"value"}}, {}};
    for (const Table& table : tables) {
        for (const std::vector<Cell>& row : table.rows) {
            append(all, table, row);
        }
    }
    return table::csv(std::span(&all, 1));
}

} // namespace mmioscope::view
