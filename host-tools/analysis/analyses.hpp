// The analyses that make a table of a trace's events: a row each.
#pragma once

#include "file/trace_reader.hpp"
#include "reading/drive.hpp"
#include "system/capped_map.hpp"
#include "table/table.hpp"

#include <cstddef>
#include <memory>
#include <span>

namespace mmioscope::analysis {

class Analysis : public reading::Consumer {
public:
    /// Before the first event, for what the trace says of its origin.
    virtual void begin(const trace::TraceReader& /*reader*/) {}

    /// The result of the events so far. Valid until the next event.
    virtual table::Table table() = 0;
};

struct AnalysisRow {
    const char* name; ///< as an option, without its dashes
    const char* help; ///< one line: what the table has
    std::unique_ptr<Analysis> (*make)();
};

/// All analyses, in the order of their tables.
std::span<const AnalysisRow> analyses();

/// Where devices are mapped: which virtual page mapped which physical one, and who used it first.
/// One row for each mapping, in the order of first use.
std::unique_ptr<Analysis> make_mappings(std::size_t most = 256);

} // namespace mmioscope::analysis
