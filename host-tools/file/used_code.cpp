#include "file/used_code.hpp"

#include "file/block.hpp"
#include "file/texts.hpp"
#include "tree/device_names.hpp"

#include <algorithm>
#include <cstring>

namespace mmioscope::trace {

void UsedCode::see(const Section& section) {
    if (section.type == abi::SectionType::records) {
        std::ranges::for_each(section.callers, [this](Caller caller) { add_return(caller); });
        for (const abi::Record& record : section.records()) {
            if (in_kernel(record)) {
                add(record.pc & ~1u);
                add_return(record.lr);
            }
            if (record.device == memory_) {
                add(record.va);
            }
        }
    } else if (section.type == abi::SectionType::regions) {
        const std::size_t count = section.payload.size() / sizeof(abi::RegionEntry);
        std::vector<abi::RegionEntry> regions(count);
        std::memcpy(regions.data(), section.payload.data(), count * sizeof(abi::RegionEntry));
        memory_ = tree::guest_memory_in(regions);
    } else if (section.type == trace::packed_section || section.type == frames_section) {
        all_ = true; // not unpacked here; stacks have any functions
    } else if (section.type == abi::SectionType::end) {
        // The next files of the recording repeat the names, and readers take those of the first.
        all_ = all_ || end_of(section.payload).ending == abi::Ending::continued;
    }
}

std::optional<std::vector<std::uint32_t>> UsedCode::addresses() const {
    if (all_) {
        return std::nullopt;
    }
    std::vector<std::uint32_t> sorted(addresses_.begin(), addresses_.end());
    std::ranges::sort(sorted);
    return sorted;
}

// Readers look up the call before it.
void UsedCode::add_return(Caller address) {
    add((address & ~1u) - 1);
}

void UsedCode::add(std::uint32_t address) {
    std::uint32_t& recent = recent_[(address >> 1) % recent_.size()];
    if (all_ || recent == address) {
        return;
    }
    recent = address;
    addresses_.insert(address);
    if (addresses_.size() > most_addresses) {
        all_ = true;
        addresses_.clear();
    }
}

} // namespace mmioscope::trace
