// Events as rows of text. Most of a row comes again and again: it is made once, and then copied.
#pragma once

#include "export/columns.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mmioscope::exporting {

enum class RowForm { csv, json };

class RowText {
public:
    RowText(RowForm form, std::vector<Column> columns, std::uint32_t frequency);

    /// Appends `event` without a line end: as CSV a field for each column, as JSON an object with
    /// those that have a value.
    void append(fmt::memory_buffer& to, const Event& event);

    /// Ids of events mean nothing from now on.
    void forget();

private:
    /// Columns side by side that depend on the same.
    struct Run {
        Column::Of of;
        std::size_t first;
        std::size_t end;
    };
    /// The texts of Column::Of::context, run by run.
    struct OfContext {
        std::uint64_t context = 0;
        std::vector<std::string> texts;
    };
    struct OfValue {
        Id place = no_id;
        std::uint64_t value = 0;
        std::string text;
    };
    struct OfFlags {
        std::uint32_t flags = UINT32_MAX;
        std::string text;
    };

    void append_run(fmt::memory_buffer& to, const Run& run, const Event& event) const;
    std::string text_of(const Run& run, const Event& event) const;
    const OfContext& of_context(const Event& event);
    const std::string& of_value(const Run& run, const Event& event);
    const std::string& of_flags(const Run& run, const Event& event);

    RowForm form_;
    std::vector<Column> columns_;
    std::uint32_t frequency_;
    std::vector<Run> runs_;
    std::vector<OfContext> contexts_;
    std::vector<OfValue> values_;
    std::vector<OfFlags> flags_;
};

} // namespace mmioscope::exporting
