// The last accesses of a boot for programs.
#pragma once

#include "export/row_text.hpp"
#include "view/last_accesses.hpp"

#include <cstdio>

namespace mmioscope::view {

/// One row each: the columns of an export (export/columns.hpp), and `state`: "in-flight",
/// "unfinished", "finished", or empty if it is not an access.
class LastRows : public LastAccessesOutput {
public:
    /// CSV begins with the names of the columns, JSON (one object per line) with the boot. `out`
    /// outlives this.
    LastRows(std::FILE* out, const KnownBoot& boot, bool csv);

    void begin_unfinished(bool) override {}
    void begin_finished(std::size_t) override {}
    void begin(State, const trace::TraceReader&) override { rows_.forget(); }
    void add(const Event& event, State state) override;

private:
    std::FILE* out_;
    bool csv_;
    exporting::RowText rows_;
    exporting::RowText in_flight_; ///< with the columns known for these
};

} // namespace mmioscope::view
