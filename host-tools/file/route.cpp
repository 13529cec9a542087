#include "file/route.hpp"

#include "file/block.hpp"
#include "records/callers.hpp"

#include <algorithm>

namespace mmioscope::trace {

Route::Route(const FileIndex& index, const Wanted& wanted, std::uint64_t records_before)
    : index_(index), wanted_(wanted), records_before_(records_before) {
    for (std::size_t i = 0; i < index_.entries.size(); ++i) {
        wanted_end_ = is_wanted(i) ? i + 1 : wanted_end_;
    }
}

void Route::advance(std::uint64_t offset) {
    while (place_ + 1 < index_.entries.size() && index_.entries[place_ + 1].offset <= offset) {
        ++place_;
    }
}

// The number of records in the last stretch is unknown.
bool Route::is_wanted(std::size_t stretch) const {
    const abi::IndexEntry& entry = index_.entries[stretch];
    const bool last = stretch + 1 == index_.entries.size();
    const NumberSpan& numbers = wanted_.numbers;
    return wanted_.times.overlaps({entry.earliest, entry.latest}) &&
           records_before_ + entry.records_before < numbers.last &&
           (last || records_before_ + index_.entries[stretch + 1].records_before >= numbers.first);
}

// If this file has no wanted record, the next one may have some.
bool Route::is_read(std::size_t stretch) const {
    const abi::IndexEntry& entry = index_.entries[stretch];
    const bool in_front =
        stretch < wanted_end_ || (entry.earliest <= wanted_.times.latest &&
                                  records_before_ + entry.records_before < wanted_.numbers.last);
    const bool teaches = wanted_.with_all_before || (entry.types & abi::index_teaches) != 0;
    return (in_front && teaches) || is_wanted(stretch);
}

bool Route::has_records(std::uint64_t offset) {
    if (offset >= index_.end || index_.entries.empty()) {
        return true;
    }
    advance(offset);
    return is_read(place_);
}

std::uint64_t Route::next(std::uint64_t offset) {
    if (offset >= index_.end || index_.entries.empty()) {
        return offset;
    }
    advance(offset);
    constexpr std::uint32_t of_records = abi::index_type_bit(abi::SectionType::records) |
                                         abi::index_type_bit(trace::packed_section) |
                                         abi::index_type_bit(callers_section) | abi::index_teaches;
    for (; place_ < index_.entries.size(); ++place_) {
        const abi::IndexEntry& entry = index_.entries[place_];
        if (is_read(place_) || (entry.types & ~of_records) != 0) {
            return std::max(offset, entry.offset);
        }
    }
    place_ = index_.entries.size() - 1;
    return index_.end;
}

std::optional<std::uint64_t> Route::records_before(std::uint64_t offset) {
    if (index_.entries.empty()) {
        return std::nullopt;
    }
    advance(offset);
    const abi::IndexEntry& entry = index_.entries[place_];
    return entry.offset == offset ? std::optional(records_before_ + entry.records_before)
                                  : std::nullopt;
}

} // namespace mmioscope::trace
