// Long-descriptor tables, for Hyp's stage 1 and the guest's stage 2. They are built before the
// first ERET into the guest. Only the validity of device pages in the normal table may change later
// (control/changing_pages.hpp).
#pragma once

#include "arch/lpae.hpp"

namespace mmioscope {

/// Hands out zeroed 4 KiB tables from memory reserved at link time; takes none back.
class TablePool {
public:
    constexpr TablePool(lpae::Descriptor* memory, unsigned tables)
        : first_(memory), next_(memory), left_(tables) {}

    /// Null: none is left.
    lpae::Descriptor* take();
    /// One from the other end, which is not in [begin, end): for what changes while the guest runs.
    lpae::Descriptor* take_changing();
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

    /// Maps `range` (page-aligned) to itself with the largest blocks that fit, replacing what was
    /// mapped there. False: the pool is empty.
    [[nodiscard]] bool map(Range range, lpae::Attributes attributes, TablePool& pool);
    /// Makes `range` (page-aligned) invalid; splits blocks that reach beyond it. False: the pool is
    /// empty.
    [[nodiscard]] bool unmap(Range range, TablePool& pool);

    /// Gives every page that `range` touches its own descriptor, with the present mapping. False:
    /// the pool is empty.
    [[nodiscard]] bool split(Range range, TablePool& pool);

    /// The entry at which a walk for `address` ends, valid or not.
    struct Leaf {
        lpae::Descriptor& entry;
        unsigned level;
    };
    Leaf leaf(std::uint64_t address) const;

    /// The leaf descriptor that translates `address`; 0 if there is none.
    lpae::Descriptor lookup(std::uint64_t address) const;

    /// The last-level entry for `address`, valid or not; null if there is a block or nothing.
    lpae::Descriptor* page_entry(std::uint64_t address) const;

    /// Makes the root's entries those of `other`'s root: the tables below are the same.
    void share(const TranslationTable& other);

    /// Maps the page at `from` to the one at `to`, with copies of the tables on the way: `own`, of
    /// levels 2 and 3. Only tables with this root have them.
    void map_apart(PhysicalAddress from, PhysicalAddress to, lpae::Attributes attributes,
                   lpae::Descriptor* const (&own)[2]);

    /// Makes every entry of the root invalid: the next walk faults.
    void invalidate_root();

    PhysicalAddress root() const;
    /// Whether the root has a valid entry for `address`, whatever is below it.
    bool root_covers(std::uint64_t address) const;

private:
    bool fill(lpae::Descriptor* table, unsigned level, Range range, const lpae::Attributes* leaf,
              TablePool& pool);
    lpae::Descriptor* descend(lpae::Descriptor& entry, unsigned level, TablePool& pool);

    lpae::Descriptor* root_{};
};

} // namespace mmioscope
