// Tables with short device names, where there is little room: on a terminal.
#pragma once

#include "table/table.hpp"
#include "tree/short_names.hpp"

#include <cstddef>
#include <string>

namespace mmioscope::view {

/// `table` with the short names of devices in its columns of devices (table::Look::device).
table::Table shortened(table::Table table, const tree::ShortNames& names);

/// The same as text. Lines have at most `width` characters; with table::unlimited, they and the
/// names are whole.
std::string fitted_text(const table::Table& table, const tree::ShortNames& names,
                        std::size_t width);

} // namespace mmioscope::view
