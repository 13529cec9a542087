#include "lib/route.hpp"

#include "lib/caller_table.hpp"
#include "pack/block.hpp"

#include <algorithm>

namespace mmioscope::trace {

void Route::advance(std::uint64_t offset) {
    while (place_ + 1 < index_.entries.size() && index_.entries[place_ + 1].offset <= offset) {
        ++place_;
    }
}

bool Route::has_times() const {
    const abi::IndexEntry& entry = index_.entries[place_];
    return wanted_.overlaps({entry.earliest, entry.latest});
}

bool Route::has_times(std::uint64_t offset) {
    if (offset >= index_.end || index_.entries.empty()) {
        return true;
    }
    advance(offset);
    return has_times();
}

std::uint64_t Route::next(std::uint64_t offset) {
    if (offset >= index_.end || index_.entries.empty()) {
        return offset;
    }
    advance(offset);
    const std::uint32_t records = abi::index_type_bit(abi::SectionType::records) |
                                  abi::index_type_bit(pack::packed_section) |
                                  abi::index_type_bit(callers_section);
    for (; place_ < index_.entries.size(); ++place_) {
        const abi::IndexEntry& entry = index_.entries[place_];
        if (has_times() || (entry.types & ~records) != 0) {
            return std::max(offset, entry.offset);
        }
    }
    place_ = index_.entries.size() - 1;
    return index_.end;
}

} // namespace mmioscope::trace
