#include "mm/translation_table.hpp"

#include "port/memory.hpp"

#include <algorithm>

namespace mmioscope {

using lpae::Descriptor;

// Recursion by level only, at most three deep.
bool TranslationTable::fill(Descriptor* table, unsigned level, Range range,
                            const lpae::Attributes* leaf, TablePool& pool) {
    const std::uint64_t size = lpae::level_size(level);
    while (!range.empty()) {
        Descriptor* entry = &table[lpae::level_index(range.begin, level)];
        const std::uint64_t next = (range.begin & ~(size - 1)) + size;
        if (range.begin + size == next && range.end >= next) { // one or more whole entries
            const std::uint64_t step = leaf != nullptr ? size : 0;
            Descriptor value = leaf != nullptr ? lpae::make_leaf(range.begin, *leaf, level) : 0;
            const auto entries = static_cast<unsigned>(range.size() >> lpae::level_shift(level));
            for (unsigned n = 0; n < entries; ++n, value += step)
                port::store_descriptor(entry++, value);
            range.begin += entries * size;
            continue;
        }
        const Range part{range.begin, std::min(range.end, next)};
        if (leaf != nullptr || lpae::is_valid(*entry)) {
            Descriptor* below = descend(*entry, level, pool);
            if (below == nullptr || !fill(below, level + 1, part, leaf, pool)) return false;
        }
        range.begin = part.end;
    }
    return true;
}

bool TranslationTable::map(Range range, lpae::Attributes attributes, TablePool& pool) {
    return fill(root_, lpae::first_level, range, &attributes, pool);
}

bool TranslationTable::unmap(Range range, TablePool& pool) {
    return fill(root_, lpae::first_level, range, nullptr, pool);
}

} // namespace mmioscope
