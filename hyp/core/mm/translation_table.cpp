#include "mm/translation_table.hpp"

#include "port/barrier.hpp"
#include "port/memory.hpp"

namespace mmioscope {

using lpae::Descriptor;

void expand(Descriptor entry, unsigned level, Descriptor* table) {
    if (lpae::is_table(entry, level)) {
        const auto* below = port::memory_at<const Descriptor>({lpae::output_address(entry)});
#pragma GCC unroll 8
        for (unsigned i = 0; i < lpae::table_entries; ++i)
            port::store_descriptor(&table[i], below[i]);
    } else if (lpae::is_valid(entry)) {
        Descriptor leaf =
            lpae::make_leaf(lpae::output_address(entry), lpae::attributes_of(entry), level + 1);
        for (unsigned i = 0; i < lpae::table_entries; ++i, leaf += lpae::level_size(level + 1))
            port::store_descriptor(&table[i], leaf);
    } else {
#pragma GCC unroll 8
        for (unsigned i = 0; i < lpae::table_entries; ++i) port::store_descriptor(&table[i], 0);
    }
}

void change_entry(Descriptor& entry, Descriptor value) {
    const bool valid = lpae::is_valid(value);
    port::store_half(entry, valid, value);
    port::order_memory();
    port::store_half(entry, !valid, value);
}

Descriptor* TablePool::take() {
    if (left_ == 0) return nullptr;
    Descriptor* table = next_;
    next_ += lpae::table_entries;
    --left_;
    return table;
}

Descriptor* TablePool::alloc_changing() {
    if (free_ == nullptr)
        return left_ == 0 ? nullptr : next_ + std::size_t{--left_} * lpae::table_entries;
    Descriptor* const table = free_;
    free_ = *table != 0 ? port::memory_at<Descriptor>({*table}) : nullptr;
    return table;
}

void TablePool::give_back(Descriptor* table) {
    *table = free_ != nullptr ? port::address_of(free_).value : 0;
    free_ = table;
}

/// The table below `entry`; if there is none of this root's own, makes one, with the mapping that
/// was there.
Descriptor* TranslationTable::descend(Descriptor& entry, unsigned level, TablePool& pool) {
    if (lpae::is_table(entry, level)) {
        auto* const below = port::memory_at<Descriptor>({lpae::output_address(entry)});
        if (below >= own_ && below < pool.end()) return below;
    }
    Descriptor* table = pool.take();
    if (table == nullptr) return nullptr;
    expand(entry, level, table);
    port::store_descriptor(&entry, lpae::make_table(port::address_of(table)));
    return table;
}

bool TranslationTable::split(Range range, TablePool& pool, unsigned level) {
    const std::uint64_t block = lpae::level_size(level - 1);
    for (std::uint64_t at = range.begin & ~(block - 1); at < range.end; at += block) {
        Descriptor* table = root_;
        for (unsigned above = lpae::first_level; above < level; ++above) {
            table = descend(table[lpae::level_index(at, above)], above, pool);
            if (table == nullptr) return false;
        }
    }
    return true;
}

void TranslationTable::share(const TranslationTable& other, const TablePool& pool) {
    own_ = pool.end();
    for (unsigned i = 0; i < lpae::root_entries; ++i)
        port::store_descriptor(&root_[i], other.root_[i]);
}

Descriptor& TranslationTable::leaf(std::uint64_t address) const {
    unsigned level = lpae::first_level;
    while (lpae::is_table(*entry(address, level), level)) ++level;
    return *entry(address, level);
}

Descriptor TranslationTable::lookup(std::uint64_t address) const {
    const Descriptor entry = leaf(address);
    return lpae::is_valid(entry) ? entry : 0;
}

Descriptor* TranslationTable::entry(std::uint64_t address, unsigned level) const {
    Descriptor* table = root_;
    for (unsigned at = lpae::first_level;; ++at) {
        Descriptor& entry = table[lpae::level_index(address, at)];
        if (at == level) return &entry;
        if (!lpae::is_table(entry, at)) return nullptr;
        table = port::memory_at<Descriptor>({lpae::output_address(entry)});
    }
}

void TranslationTable::invalidate_root() {
    for (unsigned i = 0; i < lpae::root_entries; ++i) port::store_descriptor(&root_[i], 0);
}

PhysicalAddress TranslationTable::root() const {
    return port::address_of(root_);
}

} // namespace mmioscope
