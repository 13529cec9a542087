#include "mm/page_index.hpp"

#include <new>

namespace mmioscope {

PageIndex::Leaf* PageIndex::new_leaf(TablePool& pool) {
    lpae::Descriptor* memory = pool.take();
    return memory == nullptr ? nullptr
                             : reinterpret_cast<Leaf*>(new (memory) std::uint16_t[leaf_pages]{});
}

std::uint16_t& PageIndex::entry(std::uint64_t page) {
    return (*leaves_[page >> leaf_shift])[page / page_size % leaf_pages];
}

const Span* PageIndex::find_in_page(const Span* span, std::uint32_t address) const {
    for (; span != spans_end_; ++span)
        if (address < span->range.end) return address >= span->range.begin ? span : nullptr;
    return nullptr;
}

bool PageIndex::name(std::uint64_t page, const Span& span, TablePool& pool) {
    Leaf*& leaf = leaves_[page >> leaf_shift];
    if (leaf == empty_) leaf = new_leaf(pool);
    if (leaf == nullptr) return false;
    if (entry(page) != 0) return true; // the first one's
    const bool all = span.range.contains(Range{page, page + page_size});
    entry(page) = static_cast<std::uint16_t>((&span - spans_ + 1) * 2 + (all ? whole : 0));
    return true;
}

void PageIndex::forget(std::uint64_t page) {
    if (page < lpae::input_end && leaves_[page >> leaf_shift] != empty_) entry(page) = 0;
}

bool PageIndex::build(const RegionMap& map, TablePool& pool) {
    spans_ = map.begin();
    spans_end_ = map.end();
    empty_ = new_leaf(pool);
    if (empty_ == nullptr) return false;
    for (Leaf*& leaf : leaves_) leaf = empty_;
    for (const Span& span : map) {
        if (!span.changeable || span.trapped) continue;
        const std::uint64_t end = page_ceil(span.range.end);
        for (std::uint64_t page = page_floor(span.range.begin); page < end; page += page_size)
            if (!name(page, span, pool)) return false;
    }
    // No page is named for these; so others are named at their two ends only.
    for (const Span& span : map) {
        if (span.changeable && !span.trapped) continue;
        forget(page_floor(span.range.begin));
        forget(page_floor(span.range.end - 1));
    }
    return true;
}

} // namespace mmioscope
