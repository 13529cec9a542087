// Finds the owner of an address with two loads, for the fast path (entry/fast_path.S). Built after
// the region map, and constant from then on, whatever is selected.
#pragma once

#include "mm/translation_table.hpp"
#include "port/memory.hpp"
#include "trace/region_lock.hpp"
#include "trace/region_map.hpp"

namespace mmioscope {

class PageIndex {
public:
    // Marks, in the place of a lock's word, which is never so great:
    /// No lock: the slow path handles the page.
    static constexpr std::uint32_t nothing = 0u - 2;
    /// The first word of Subpages: a lock for each 64 bytes follows.
    static constexpr std::uint32_t split = 0u - 3;

    /// Enters the pages, or 64-byte parts of pages, that contain only what may be traced, with
    /// their spans' owners; sets Owner::span. False: the pool is empty.
    [[nodiscard]] bool build(const RegionMap& map, TablePool& pool);
    /// Behind that: the page belongs to `owner`, whatever else is there; null: to nobody. While the
    /// guest runs, `store` stores a word that is sealed. False: the pool is empty.
    template <class Store>
    [[nodiscard]] bool give(std::uint32_t page, const Owner* owner, TablePool& pool, Store store) {
        std::uint32_t leaf = leaves_[page >> leaf_shift];
        if (leaf == empty_) {
            leaf = new_leaf(pool.alloc_changing(), entry(leaf, page));
            if (leaf == 0) return false;
            store(leaves_[page >> leaf_shift], leaf);
        }
        store(entry(leaf, page), owner != nullptr ? address(owner) : address(&nothing_));
        return true;
    }

    /// The owner of `address`, below 4 GiB. Null: it is not in the index.
    Owner* find(std::uint32_t address) const {
        std::uint32_t* word = memory(entry(address));
        return *word >= split ? find_subpage(word, address) : reinterpret_cast<Owner*>(word);
    }
    /// The address of the table, for FastState.
    std::uint32_t table() const {
        return static_cast<std::uint32_t>(port::address_of(leaves_).value);
    }
    /// Of one with no lock that could be taken, for a fast path that must take no access.
    std::uint32_t closed() const { return closed_; }

private:
    static constexpr unsigned leaf_pages = page_size / sizeof(std::uint32_t);
    static constexpr unsigned leaf_shift = 22; ///< log2 of leaf_pages * page_size
    static constexpr unsigned subpage_size = 64;
    static constexpr unsigned subpages = page_size / subpage_size;
    /// For each page the address of an Owner, of Subpages, or of `nothing_`.
    using Leaf = std::uint32_t[leaf_pages];
    struct Subpages {
        std::uint32_t mark;
        std::uint32_t locks[subpages];
    };

    [[gnu::noinline]] static Owner* find_subpage(std::uint32_t* word, std::uint32_t address) {
        if (*word == split) word = memory(word[1 + address % page_size / subpage_size]);
        return *word == nothing ? nullptr : reinterpret_cast<Owner*>(word);
    }

    /// The page's word, in a leaf that is not the empty one. Null: the pool is empty.
    std::uint32_t* own_entry(std::uint64_t page, TablePool& pool);
    /// In `table`, with `word` for each page; 0: its own address. Null: 0.
    static std::uint32_t new_leaf(lpae::Descriptor* table, std::uint32_t word) {
        auto* const leaf = reinterpret_cast<std::uint32_t*>(table);
        if (leaf == nullptr) return 0;
        if (word == 0) word = address(leaf);
        for (unsigned n = 0; n < leaf_pages; n += 4) // most of its instructions would be the loop's
            leaf[n] = leaf[n + 1] = leaf[n + 2] = leaf[n + 3] = word;
        return address(leaf);
    }
    std::uint32_t new_subpages(std::uint64_t page, const RegionMap& map, TablePool& pool);
    static std::uint32_t address(const void* object) {
        return static_cast<std::uint32_t>(port::address_of(object).value);
    }
    static std::uint32_t* memory(std::uint32_t address) {
        return port::memory_at<std::uint32_t>({address});
    }
    static std::uint32_t& entry(std::uint32_t leaf, std::uint32_t at) {
        return (*port::memory_at<Leaf>({leaf}))[at / page_size % leaf_pages];
    }
    std::uint32_t& entry(std::uint32_t at) const { return entry(leaves_[at >> leaf_shift], at); }

    std::uint32_t leaves_[1u << (32 - leaf_shift)]{}; ///< addresses of a Leaf
    std::uint32_t nothing_{nothing};
    std::uint32_t empty_{};  ///< address of the Leaf in which all pages have nothing
    std::uint32_t closed_{}; ///< of a page full of its own address: leaf, and lock that is not free
    Subpages* free_subpages_{}; ///< those left of the last table taken
    unsigned free_{};
};

} // namespace mmioscope
