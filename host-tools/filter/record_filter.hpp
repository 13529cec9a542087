// The part of a filter that a record alone decides, before any name is looked up.
#pragma once

#include "filter/expression.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace mmioscope::filter {

/// Made from a filter's tree without the tests that need names: keeps each record whose event may
/// pass the filter. A list of tests, each with the next step for yes and no.
class RecordFilter {
public:
    /// Keeps all records and decides nothing.
    RecordFilter() = default;
    /// `context` outlives this.
    RecordFilter(const Node& root, const Context& context);

    /// Which events may pass the filter, whatever their names: of at most 64 records, those with a
    /// bit set in `of`. Returns their bits.
    std::uint64_t may_hold(std::span<const abi::Record> records, std::uint64_t of) const;

    /// The columns of a packed record that it uses.
    trace::ColumnSet columns() const { return columns_; }

    /// Whether may_hold() is the exact result of the filter.
    bool decides() const { return decides_; }

private:
    /// Results, in place of a next step.
    static constexpr std::int32_t keep = -1;
    static constexpr std::int32_t drop = -2;

    /// Whether a number of the record is in a range.
    struct Step {
        NumberField::Which which;
        NumberField::Masked range;
        std::int32_t yes; ///< the next step, keep or drop
        std::int32_t no;
    };

    std::int32_t add(const Node& node, std::int32_t yes, std::int32_t no, bool kept_if);
    std::int32_t add(const NumberTest& test, std::int32_t yes, std::int32_t no);
    std::int32_t add(const TextTest& test, std::int32_t yes, std::int32_t no);

    const Context* context_ = nullptr;
    std::vector<Step> steps_; ///< each leads only to earlier ones
    std::int32_t first_ = keep;
    mutable std::vector<std::uint64_t> reach_; ///< by step: bits of records
    trace::ColumnSet columns_ = trace::Column::site;
    bool decides_ = false;
};

} // namespace mmioscope::filter
