#include "mm/page_index.hpp"

namespace mmioscope {

namespace {

bool may_be_traced(const Span& span) {
    return span.changeable && span.mapped == Mapped::always;
}

} // namespace

std::uint32_t PageIndex::new_subpages(std::uint64_t page, const RegionMap& map, TablePool& pool) {
    if (free_ == 0) {
        free_subpages_ = reinterpret_cast<Subpages*>(pool.take());
        if (free_subpages_ == nullptr) return 0;
        free_ = page_size / sizeof(Subpages);
    }
    Subpages& made = free_subpages_[--free_];
    made.mark = split;
    for (unsigned n = 0; n < subpages; ++n) {
        const Range part{page + n * subpage_size, page + (n + 1) * subpage_size};
        const Span* span = map.find({part.begin});
        const bool whole = span != nullptr && may_be_traced(*span) && span->range.contains(part);
        made.locks[n] = whole ? address(span->owner) : address(&nothing_);
    }
    return address(&made);
}

std::uint32_t* PageIndex::own_entry(std::uint64_t page, TablePool& pool) {
    std::uint32_t& leaf = leaves_[page >> leaf_shift];
    if (leaf == empty_) leaf = new_leaf(pool.take(), address(&nothing_));
    return leaf != 0 ? &entry(static_cast<std::uint32_t>(page)) : nullptr;
}

bool PageIndex::build(const RegionMap& map, TablePool& pool) {
    closed_ = new_leaf(pool.take(), 0);
    empty_ = new_leaf(pool.take(), address(&nothing_));
    if (closed_ == 0 || empty_ == 0) return false;
    for (std::uint32_t& leaf : leaves_) leaf = empty_;
    for (const Span& span : map) {
        if (!may_be_traced(span)) continue;
        if (span.owner->span == nullptr) span.owner->span = &span;
        const std::uint64_t end = page_ceil(span.range.end);
        for (std::uint64_t page = page_floor(span.range.begin); page < end; page += page_size) {
            std::uint32_t* const of_page = own_entry(page, pool);
            if (of_page == nullptr) return false;
            if (*of_page != address(&nothing_)) continue; // an earlier span of the page has set it
            *of_page = span.range.contains(Range{page, page + page_size})
                           ? address(span.owner)
                           : new_subpages(page, map, pool);
            if (*of_page == 0) return false;
        }
    }
    return true;
}

} // namespace mmioscope
