// What of a filter a record alone decides, before anybody looks a name up.
#pragma once

#include "filter/expression.hpp"

#include <cstdint>
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

    /// False: the filter does not hold for the record's event, whatever its names are.
    bool may_hold(const abi::Record& record) const {
        std::int32_t at = first_;
        while (at >= 0) {
            const Step& step = steps_[static_cast<std::size_t>(at)];
            const std::optional<std::uint64_t> number = step.get(record, *context_);
            at = number && (*number & step.mask) - step.first <= step.span ? step.yes : step.no;
        }
        return at == keep;
    }

    /// What may_hold() says is what the filter says.
    bool decides() const { return decides_; }

private:
    /// Behind the last step.
    static constexpr std::int32_t keep = -1;
    static constexpr std::int32_t drop = -2;

    /// Whether a number of the record, masked, is in a range.
    struct Step {
        NumberField::OfRecord get;
        std::uint64_t mask;
        std::uint64_t first;
        std::uint64_t span; ///< the last number of the range less the first
        std::int32_t yes;   ///< the next step, keep or drop
        std::int32_t no;
    };

    std::int32_t add(const Node& node, std::int32_t yes, std::int32_t no, bool kept_if);
    std::int32_t add(const NumberTest& test, std::int32_t yes, std::int32_t no);
    std::int32_t add(const TextTest& test, std::int32_t yes, std::int32_t no);

    const Context* context_ = nullptr;
    std::vector<Step> steps_; ///< each leads to earlier ones only: it was added behind them
    std::int32_t first_ = keep;
    bool decides_ = false;
};

} // namespace mmioscope::filter
