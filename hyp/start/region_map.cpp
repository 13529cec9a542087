#include "trace/region_map.hpp"

namespace mmioscope {

/// Splits the span that contains `at` into two, so that `at` is a boundary.
bool RegionMap::cut(std::uint64_t at) {
    const std::size_t i = first_ending_after(at);
    if (i == spans_.size() || spans_[i].range.begin >= at) return true;
    Span left = spans_[i];
    left.range.end = at;
    spans_[i].range.begin = at;
    return spans_.insert(i, left);
}

template <class Change>
bool RegionMap::change(Range range, Change&& apply) {
    if (!cut(range.begin) || !cut(range.end)) return false;
    for (std::size_t i = first_ending_after(range.begin);
         i < spans_.size() && spans_[i].range.begin < range.end; ++i)
        apply(spans_[i]);
    return true;
}

bool RegionMap::build(const RegionTable& regions) {
    spans_.clear();
    // Outer regions first, so that each inner one takes its bytes from them.
    std::uint16_t order[abi::max_regions];
    for (std::size_t i = 0; i < regions.size(); ++i) {
        std::size_t at = i;
        for (; at > 0 && regions[order[at - 1]].size < regions[i].size; --at)
            order[at] = order[at - 1];
        order[at] = static_cast<std::uint16_t>(i);
    }
    for (std::size_t i = 0; i < regions.size(); ++i) {
        const std::uint16_t region = order[i];
        const Range range = range_of(regions[region]);
        if (range.empty()) continue;
        if (!cut(range.begin) || !cut(range.end)) return false;
        std::size_t at = first_ending_after(range.begin);
        while (at < spans_.size() && spans_[at].range.begin < range.end) spans_.erase(at);
        if (!spans_.insert(at, Span{.range = range, .region = region})) return false;
    }
    return true;
}

bool RegionMap::select(Range range, bool traced) {
    return change(range, [traced](Span& s) {
        s.tracing = traced && !s.is_withheld() ? Span::selected_bit | Span::traced_bit : 0;
    });
}

bool RegionMap::hook(Range range, AccessHooks& hooks) {
    return change(range, [&hooks](Span& s) {
        if (!s.is_withheld()) s.mapped = Mapped::in_steps;
        s.hooks = &hooks;
    });
}

bool RegionMap::withhold(Range range) {
    return change(range, [](Span& s) {
        s.mapped = Mapped::never;
        s.tracing = 0;
    });
}

} // namespace mmioscope
