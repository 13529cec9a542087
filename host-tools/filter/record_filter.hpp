// The part of a filter that a record alone decides, before any name is looked up.
#pragma once

#include "filter/expression.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace mmioscope::filter {

/// Made of a filter's tree, with what takes names left out: it keeps each record for whose event
/// the filter may hold. Tests that follow one another, each with where to go on.
class RecordFilter {
public:
    /// Keeps all, and decides nothing.
    RecordFilter() = default;
    /// `context` outlives this.
    RecordFilter(const Node& root, const Context& context);

    /// Of at most 64 records, those whose bits `of` has: the bits of these for whose events the
    /// filter may hold, whatever names they have.
    std::uint64_t may_hold(std::span<const abi::Record> records, std::uint64_t of) const;

    /// What it takes of a packed record.
    pack::ColumnSet columns() const { return columns_; }

    /// What may_hold() says is what the filter says.
    bool decides() const { return decides_; }

private:
    /// Behind the last step.
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
    std::vector<Step> steps_; ///< each leads to earlier ones only: it was added behind them
    std::int32_t first_ = keep;
    mutable std::vector<std::uint64_t> reach_; ///< each step: bits of records
    pack::ColumnSet columns_ = pack::Column::site;
    bool decides_ = false;
};

} // namespace mmioscope::filter
