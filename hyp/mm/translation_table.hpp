// Building long-descriptor tables: Hyp's stage 1 and the guest's stage 2 alike. Tables are built
// before the first ERET into the guest. Which pages are valid in the normal one may change later
// (mm/changing_pages.hpp), nothing else.
#pragma once

#include "arch/lpae.hpp"

namespace mmioscope {

/// Hands out zeroed 4 KiB tables from memory set aside at link time; never takes one back.
class TablePool {
public:
    constexpr TablePool(lpae::Descriptor* memory, unsigned tables)
        : first_(memory), next_(memory), left_(tables) {}

    /// Null when none is left.
    lpae::Descriptor* take();
    unsigned left() const { return left_; }

    /// The tables handed out so far: [begin, end).
    const lpae::Descriptor* begin() const { return first_; }
    const lpae::Descriptor* end() const { return next_; }

private:
    lpae::Descriptor* first_;
    lpae::Descriptor* next_;
    unsigned left_;
};

class TranslationTable {
public:
    TranslationTable() = default;
    explicit TranslationTable(lpae::Descriptor* root) : root_(root) {}

    /// Maps `range` (page-aligned) to itself with the largest blocks that fit; what was mapped
    /// there before is replaced. False when the pool is empty.
    [[nodiscard]] bool map(Range range, lpae::Attributes attributes, TablePool& pool);
    /// Leaves `range` (page-aligned) invalid, splitting blocks that reach beyond it.
    [[nodiscard]] bool unmap(Range range, TablePool& pool);

    /// Gives every page that `range` touches a descriptor of its own, with what was mapped there.
    [[nodiscard]] bool split(Range range, TablePool& pool);

    /// The leaf that translates `address`, or 0.
    lpae::Descriptor lookup(std::uint64_t address) const;

    /// The entry of the last level for `address`, valid or not; null if a block or nothing is
    /// there.
    lpae::Descriptor* page_entry(std::uint64_t address) const;

    /// Makes every entry of the root invalid: whoever walks it next, faults.
    void invalidate_root();

    PhysicalAddress root() const;
    /// Whether the root has an entry for `address`, be there a leaf below or not.
    bool root_covers(std::uint64_t address) const;

private:
    bool fill(lpae::Descriptor* table, unsigned level, Range range, const lpae::Attributes* leaf,
              TablePool& pool);
    lpae::Descriptor* descend(lpae::Descriptor& entry, unsigned level, TablePool& pool);

    lpae::Descriptor* root_{};
};

} // namespace mmioscope
