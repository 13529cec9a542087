// Whose registers lie at an address, in two loads: the fast path's table (entry/fast_path.S). Built
// behind the region map and constant from then on, whatever is selected.
#pragma once

#include "mm/translation_table.hpp"
#include "trace/region_lock.hpp"
#include "trace/region_map.hpp"

namespace mmioscope {

class PageIndex {
public:
    // In place of a lock's owner: this is none.
    static constexpr std::uint32_t nothing = 0u - 2;
    static constexpr std::uint32_t parts = 0u - 3; ///< behind it one lock for each 64 bytes

    /// Names the pages, or 64 bytes of them, that hold nothing but what may be traced, and tells
    /// the locks of their spans. False: the pool is empty.
    [[nodiscard]] bool build(const RegionMap& map, RegionLocks& locks, TablePool& pool);

    /// The lock of the region at `address`, below 4 GiB. Null: it is not named here.
    const RegionLock* find(std::uint32_t address) const;
    /// Its address, for FastState.
    std::uint32_t table() const;

private:
    static constexpr unsigned leaf_pages = page_size / sizeof(std::uint32_t);
    static constexpr unsigned leaf_shift = 22; ///< log2 of leaf_pages * page_size
    static constexpr unsigned part_size = 64;
    static constexpr unsigned page_parts = page_size / part_size;
    /// Of each page the address of a RegionLock, of Parts, or of `nothing_`.
    using Leaf = std::uint32_t[leaf_pages];
    struct Parts {
        std::uint32_t mark;
        std::uint32_t locks[page_parts];
    };

    std::uint32_t new_leaf(TablePool& pool);
    std::uint32_t new_parts(std::uint64_t page, const RegionMap& map, RegionLocks& locks,
                            TablePool& pool);
    std::uint32_t& entry(std::uint64_t page) const;

    std::uint32_t leaves_[1u << (32 - leaf_shift)]{}; ///< addresses, each of a Leaf
    std::uint32_t nothing_{nothing};
    std::uint32_t empty_{}; ///< all that have nothing
    Parts* free_parts_{};   ///< of the page taken last
    unsigned free_{};
};

} // namespace mmioscope
