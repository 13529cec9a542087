// The last accesses of a boot, each with its state, in the order of output.
#pragma once

#include "export/row_text.hpp"
#include "file/trace_reader.hpp"
#include "mmioscope/event.hpp"
#include "reading/trace.hpp"
#include "rings/area.hpp"
#include "rings/black_box.hpp"
#include "view/line.hpp"

#include <cstddef>
#include <cstdio>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace mmioscope::view {

// A boot found in memory, and the text about it as a whole.

struct KnownBoot {
    const rings::Area& area;
    std::span<const std::byte> tree; ///< its machine's device tree; empty: unknown
    std::string_view which;          ///< "previous boot", ...
};

/// "previous boot, id ..., BOARD, N CPUs", whether the hypervisor had stopped, and why nothing was
/// kept of the boot before; with line end.
std::string boot_line(const KnownBoot& boot);

/// The same as one line with a JSON object of type "boot".
std::string boot_json(const KnownBoot& boot);

enum class State {
    in_flight,  ///< begun; only time, CPU, device, offset, address and PC are known
    unfinished, ///< begun, with a begin record
    finished,   ///< or not an access
};

/// An output for them.
class LastAccessesOutput {
public:
    virtual ~LastAccessesOutput() = default;

    /// The unfinished ones follow, if there are `any`.
    virtual void begin_unfinished(bool any) = 0;
    /// The finished ones follow, selected from `count`.
    virtual void begin_finished(std::size_t count) = 0;
    /// Events of a state other than in_flight follow; `reader` has their names.
    virtual void begin(State state, const trace::TraceReader& reader) = 0;
    /// The text of a marker is complete.
    virtual void add(const Event& event, State state) = 0;
};

/// Shows those of `last` that `chosen` selects; times are those of the machine's counter. For
/// in-flight accesses only the choice of CPUs applies, not the filter: most of what it may need is
/// unknown. Throws Error like reading::Trace.
void show(const KnownBoot& boot, const rings::LastAccesses& last,
          const reading::TraceOptions& chosen, LastAccessesOutput& output);

// The last accesses of a boot as lines of text.

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
