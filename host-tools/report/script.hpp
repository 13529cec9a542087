// JSON within a <script> element of a page.
#pragma once

#include "diff/finding.hpp"
#include "report/timeline.hpp"
#include "report/values.hpp"
#include "table/table.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mmioscope::report {

/// Writes it piece by piece. No '<' gets into the page, so that nothing in a trace ends the element
/// or begins another one: in JSON it can only be in a string, and becomes \u003c.
class Script {
public:
    explicit Script(table::Write write) : write_(std::move(write)) {}

    /// Append JSON to this, and call settle() now and then.
    fmt::memory_buffer& text() { return text_; }
    /// Appends JSON.
    void put(std::string_view json) { text_.append(json); }
    /// Appends `text` in quotes.
    void string(std::string_view text);
    /// Writes the text so far if there is much.
    void settle();
    void flush();

private:
    table::Write write_;
    fmt::memory_buffer text_;
};

/// The most rows of a table; the others are only counted.
inline constexpr std::size_t most_rows = 1000;
/// The rows whose events are in excerpts.
inline constexpr std::size_t rows_with_excerpts = 100;

/// {"columns": [{"name", "title", "number"}], "rows": [["1.2", ...]], "closing": "..."}: what
/// people see. Appends to `events` those that its first rows name in columns that people see.
void put_table(Script& to, const table::Table& table, std::vector<std::uint64_t>& events);

/// [{"device", "cpu", "width", "cells": [...]}]. A cell is seven numbers: begin, and event, less
/// those of the cell before; the time from its first access to its last; reads, writes, ticks,
/// longest. Times are in nanoseconds.
void put_lanes(Script& to, const Timeline& timeline);

/// [[nanoseconds, event, "text"], ...]
void put_marks(Script& to, const Timeline& timeline);

/// [{"device", "register", "width", "fields": [{"name", "low", "width", "values"}], "cells":
/// [...]}]. A cell is ten numbers: begin, less that of the cell before, time, event, least, most,
/// ones, zeros, last, reads, writes. Numbers of 2^53 or more are strings, "0x...".
void put_values(Script& to, const Values& values);

/// {"verdict", "notes": ["..."], "findings": [{"tier", "kind", "device", "register", "function",
/// "difference", "a":
/// {"lines", "event"}, "b"}]}: an event of 0 is none.
void put_findings(Script& to, std::span<const diff::Finding> findings,
                  std::span<const std::string> notes);

} // namespace mmioscope::report
