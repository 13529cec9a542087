// An event as columns of text: what JSONL and CSV have in common. Names and order are part of both
// formats; columns may be added at the end.
#pragma once

#include "lib/trace_reader.hpp"
#include "mmioscope/event.hpp"
#include "table/table.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace mmioscope::exporting {

using table::Cell;
using table::Hex;

struct Column {
    /// What a cell depends on.
    enum class Of {
        event,
        context, ///< of an access: Event::context() alone
        value,   ///< of an access with a value: its place and that
        flags,   ///< Record::flags and Record::access
    };

    std::string_view name;
    Cell (*cell)(const Event& event, std::uint32_t frequency);
    Of of = Of::event;
};

/// `frequency` of the cells: ticks of the trace's clock in a second, 0 if not known.
std::span<const Column> columns();

/// The same for one trace: columns of what it does not know have no cell.
std::vector<Column> columns_of(const trace::TraceReader& reader);

} // namespace mmioscope::exporting
