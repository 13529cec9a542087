// The analyses that make a table of a trace's events: a row each.
#pragma once

#include "reading/consumer.hpp"
#include "table/table.hpp"

#include <memory>
#include <span>

namespace mmioscope::analysis {

class Analysis : public reading::Consumer {
public:
    /// What was found in the events up to here. It may be read until there are more.
    virtual table::Table table() = 0;
};

struct AnalysisRow {
    const char* name; ///< as an option, without its dashes
    const char* help; ///< one line: what the table has
    std::unique_ptr<Analysis> (*make)();
};

/// All there are, in the order of their tables.
std::span<const AnalysisRow> analyses();

} // namespace mmioscope::analysis
