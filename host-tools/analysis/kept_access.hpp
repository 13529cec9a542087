// Accesses that are kept while reading continues, as rows of a table.
#pragma once

#include "mmioscope/event.hpp"
#include "table/table.hpp"

#include <string_view>
#include <vector>

namespace mmioscope::analysis {

class KeptAccess {
public:
    /// Keeps `event` instead of the access before. Its names must have been looked up
    /// (Event::resolve()).
    void keep(const Event& event) {
        event_ = event;
        row_.clear();
    }

    /// Call it before ids of events become invalid: turns names into text.
    void forget();

    bool empty() const { return event_.number == 0; }
    const abi::Record& record() const { return event_.record; }
    std::uint64_t number() const { return event_.number; }

    /// A row for kept_columns(), with `what` in the first cell.
    table::Row row(std::string_view what) const;

private:
    Event event_;
    table::Row row_; ///< without the first cell; empty: the names are still valid
};

/// Columns of a table of accesses. The first says what each access is.
std::vector<table::Column> kept_columns();

} // namespace mmioscope::analysis
