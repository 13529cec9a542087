// What lies in a page, in one look instead of a search: the fast path's table
// (trap/fast_path.cpp). Built behind the region map and constant from then on, whatever is
// selected.
#pragma once

#include "mm/translation_table.hpp"
#include "trace/region_map.hpp"

namespace mmioscope {

class PageIndex {
public:
    /// Names the pages of all spans that may be traced, but for those that also hold something
    /// else: bytes that the guest must not reach, or that always trap. False: the pool is empty.
    [[nodiscard]] bool build(const RegionMap& map, TablePool& pool);

    /// The span of `address`, below 4 GiB. Null: there is none, or its page is not named here.
    const Span* find(std::uint32_t address) const {
        const unsigned entry = (*leaves_[address >> leaf_shift])[address / page_size % leaf_pages];
        if (entry == 0) return nullptr;
        const Span* span = spans_ + (entry / 2 - 1);
        return (entry & whole) != 0 ? span : find_in_page(span, address);
    }

private:
    static constexpr unsigned leaf_pages = page_size / sizeof(std::uint16_t);
    static constexpr unsigned leaf_shift = 23; ///< log2 of leaf_pages * page_size
    static constexpr unsigned whole = 1;       ///< the span has all of the page
    /// Of each page the first span's place behind `spans_`, twice, or 0.
    using Leaf = std::uint16_t[leaf_pages];

    static Leaf* new_leaf(TablePool& pool);
    const Span* find_in_page(const Span* span, std::uint32_t address) const;
    bool name(std::uint64_t page, const Span& span, TablePool& pool);
    void forget(std::uint64_t page);
    std::uint16_t& entry(std::uint64_t page);

    Leaf* leaves_[1u << (32 - leaf_shift)]{};
    Leaf* empty_{}; ///< all that have nothing
    const Span* spans_{};
    const Span* spans_end_{};
};

} // namespace mmioscope
