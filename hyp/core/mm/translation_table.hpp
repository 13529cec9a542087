// Long-descriptor tables, for Hyp's stage 1 and the guest's stage 2. They are built before the
// first ERET into the guest. How those of the guest change later:
// services/changing/live_tables.hpp.
#pragma once

#include "arch/lpae.hpp"

namespace mmioscope {

/// Hands out 4 KiB tables, zeroed at the start, from memory reserved at link time.
class TablePool {
public:
    constexpr TablePool(lpae::Descriptor* memory, unsigned tables)
        : first_(memory), next_(memory),
          behind_(memory + std::size_t{tables} * lpae::table_entries), left_(tables) {}

    /// Null: none is left.
    lpae::Descriptor* take();
    /// One from the other end, which is not in [begin, end): for what changes while the guest runs.
    /// Not zeroed if it was given back.
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

/// Fills `table` with what `entry`, of `level`, leads to: the table below, or its block's parts.
void expand(lpae::Descriptor entry, unsigned level, lpae::Descriptor* table);
/// Stores an entry that walks may find meanwhile, and of which no TLB has another valid value. Of
/// the two words of a descriptor a walk may find one, and XN is in the upper one: the lower word,
/// with the valid bit, is the last that becomes valid and the first that becomes invalid.
void change_entry(lpae::Descriptor& entry, lpae::Descriptor value);

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

    /// The entry of `level` for `address`, valid or not; null if a walk ends before.
    lpae::Descriptor* entry(std::uint64_t address, unsigned level) const;
    lpae::Descriptor* page_entry(std::uint64_t address) const {
        return entry(address, lpae::last_level);
    }

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
