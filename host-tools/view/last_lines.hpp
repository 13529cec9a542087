// The last accesses of a boot as lines of text.
#pragma once

#include "export/row_text.hpp"
#include "view/last_accesses.hpp"
#include "view/line.hpp"

#include <cstdio>
#include <functional>
#include <optional>

namespace mmioscope::view {

class LastLines : public LastAccessesOutput {
public:
    using Style = std::function<LineStyle(const trace::TraceReader&)>;

    /// `style` is the look of the lines. `out` outlives this.
    LastLines(std::FILE* out, const KnownBoot& boot, Style style);

    void begin_unfinished(bool any) override;
    void begin_finished(std::size_t count) override;
    void begin(State state, const trace::TraceReader& reader) override;
    void add(const Event& event, State state) override;

private:
    std::string in_flight(const Event& event) const;

    std::FILE* out_;
    Style style_;
    std::uint32_t frequency_;
    std::size_t width_; ///< of the longest device's name
    std::optional<LineFormat> format_;
};

// The last accesses of a boot for programs.

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
