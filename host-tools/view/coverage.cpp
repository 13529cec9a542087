#include "view/tables.hpp"

namespace mmioscope::view {

namespace {

using registers::CoverageCount;
using table::Cell;

std::vector<Cell> row(Cell name, const CoverageCount& count) {
    const auto percent = [&count](std::uint64_t part) {
        return count.touched == 0
                   ? 100.0
                   : 100.0 * static_cast<double>(part) / static_cast<double>(count.touched);
    };
    return {std::string_view("coverage"), std::move(name), count.touched,      count.device,
            percent(count.device),        count.reg,       percent(count.reg), count.field,
            percent(count.field)};
}

std::string_view lack(const registers::Touched& touched) {
    return !touched.device ? "device" : !touched.reg ? "register" : "field";
}

} // namespace

table::Table coverage_table(const registers::Coverage& coverage) {
    using enum table::Look;
    table::Table table{{{"about"},
                        {"name", "named to the", words, 12, 0, "", "total"},
                        {"touched", "touched", number, 9},
                        {"device"},
                        {"", "device", number, 10, 1, " %"},
                        {"register"},
                        {"", "register", number, 10, 1, " %"},
                        {"field"},
                        {"", "field", number, 10, 1, " %"}},
                       {}};
    for (const auto& [name, count] : coverage.devices()) {
        table.rows.push_back(row(name, count));
    }
    table.rows.push_back(row(Cell(), coverage.total()));
    return table;
}

table::Table unnamed_table(const registers::Coverage& coverage) {
    using enum table::Look;
    table::Table table{{{"about"},
                        {"name", "device", words, 12},
                        {"offset", "offset", number, 7, 3},
                        {"reads", "reads", number, 9},
                        {"writes", "writes", number, 9},
                        {"lacks", "lacks"}},
                       {}};
    for (const auto& [place, touched] : coverage.unnamed()) {
        table.rows.push_back({std::string_view("unnamed"), place.first, table::Hex{place.second},
                              touched.reads, touched.writes, lack(touched)});
    }
    return table;
}

} // namespace mmioscope::view
