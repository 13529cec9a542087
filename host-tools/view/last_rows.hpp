// The last accesses of a boot for programs.
#pragma once

#include "export/columns.hpp"
#include "view/last_accesses.hpp"

#include <cstdio>
#include <vector>

namespace mmioscope::view {

/// A row each: the columns of an export (export/columns.hpp), and `state`: "in-flight",
/// "unfinished", "finished", or nothing for what is no access.
class LastRows : public LastAccessesOutput {
public:
    /// CSV begins with the names of the columns, JSON (an object a line) with the boot. `out`
    /// outlives this.
    LastRows(std::FILE* out, const KnownBoot& boot, bool csv);

    void begin_unfinished(bool) override {}
    void begin_finished(std::size_t) override {}
    void begin(State, const trace::TraceReader&) override {}
    void add(const Event& event, State state) override;

private:
    std::FILE* out_;
    std::uint32_t frequency_;
    bool csv_;
    std::vector<exporting::Column> in_flight_; ///< those that are known of what is
};

} // namespace mmioscope::view
