// Long-descriptor tables, for Hyp's stage 1 and the guest's stage 2. They are built before the
// first ERET into the guest (start/translation_table.cpp). How those of the guest change later:
// services/changing/live_tables.hpp.
#pragma once

#include "arch/lpae.hpp"
#include "port/memory.hpp"

namespace mmioscope {

/// Hands out 4 KiB tables, not cleared, from memory reserved at link time.
class TablePool {
public:
    constexpr TablePool(lpae::Descriptor* memory, unsigned tables)
        : first_(memory), next_(memory),
          behind_(memory + std::size_t{tables} * lpae::table_entries), left_(tables) {}

    /// Null: none is left.
    lpae::Descriptor* take();
    /// One from the other end, which is not in [begin, end): for what changes while the guest runs.
    lpae::Descriptor* alloc_changing();
    /// Takes one of those back that no walk uses any more.
    void give_back(lpae::Descriptor* table);
    bool changes(const lpae::Descriptor* table) const { return table >= next_ && table < behind_; }
    unsigned left() const { return left_; }

    /// The tables handed out so far: [begin, end).
    const lpae::Descriptor* begin() const { return first_; }
    const lpae::Descriptor* end() const { return next_; }

private:
    lpae::Descriptor* first_;
    lpae::Descriptor* next_;
    lpae::Descriptor* behind_;
    lpae::Descriptor* free_{}; ///< given back; the first word of each has the address of the next
    unsigned left_;
};

/// Stores an entry that walks may find meanwhile, and of which no TLB has another valid value. Of
/// the two words of a descriptor a walk may find one, and XN is in the upper one: the lower word,
/// with the valid bit, is the last that becomes valid and the first that becomes invalid.
void change_entry(lpae::Descriptor& entry, lpae::Descriptor value);
/// Fills `table` with what `entry`, of `level`, leads to: the table below, or its block's parts.
void expand(lpae::Descriptor entry, unsigned level, lpae::Descriptor* table);

class TranslationTable {
public:
    TranslationTable() = default;
    explicit TranslationTable(lpae::Descriptor* root) : root_(root) {}

    /// Maps `range` (page-aligned) to itself with the largest blocks that fit, replacing what was
    /// mapped there. False: the pool is empty.
    [[nodiscard]] bool map(Range range, lpae::Attributes attributes, TablePool& pool);
    /// Makes `range` (page-aligned) invalid; splits blocks that reach beyond it. False: the pool is
    /// empty.
    [[nodiscard]] bool unmap(Range range, TablePool& pool);

    /// Gives all that `range` touches descriptors of `level` or below, with the present mapping.
    /// False: the pool is empty.
    [[nodiscard]] bool split(Range range, TablePool& pool, unsigned level = lpae::last_level);

    /// Makes the root's entries those of `other`'s root: the tables below are the same. map(),
    /// unmap() and split() with `pool` then change copies of those, which are this root's alone.
    void share(const TranslationTable& other, const TablePool& pool);

    /// The entry at which a walk for `address` ends, valid or not.
    lpae::Descriptor& leaf(std::uint64_t address) const;

    /// The leaf descriptor that translates `address`; 0 if there is none.
    lpae::Descriptor lookup(std::uint64_t address) const;

    /// The entry of `level` for `address`, valid or not; null if a walk ends before.
    lpae::Descriptor* entry(std::uint64_t address, unsigned level = lpae::last_level) const;

    /// entry() of the last level, where tables lead there.
    lpae::Descriptor* last_entry(std::uint32_t address) const {
        lpae::Descriptor* table = root_;
        for (unsigned level = lpae::first_level; level < lpae::last_level; ++level) {
            const auto to = static_cast<std::uint32_t>(table[lpae::level_index(address, level)]);
            table = port::memory_at<lpae::Descriptor>({to & ~std::uint32_t{page_size - 1}});
        }
        return &table[lpae::level_index(address, lpae::last_level)];
    }

    /// Makes every entry of the root invalid: the next walk faults.
    void invalidate_root();

    PhysicalAddress root() const;

private:
    bool fill(lpae::Descriptor* table, unsigned level, Range range, const lpae::Attributes* leaf,
              TablePool& pool);
    lpae::Descriptor* descend(lpae::Descriptor& entry, unsigned level, TablePool& pool);

    lpae::Descriptor* root_{};
    const lpae::Descriptor* own_{}; ///< what the pool hands out from there on is this root's
};

} // namespace mmioscope
