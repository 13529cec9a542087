#include "analysis/context_table.hpp"

#include <algorithm>

namespace mmioscope::analysis {

const ContextTable::Slot* ContextTable::find(std::uint64_t key) const {
    const std::size_t first = (key >> (64 - table_bits)) & ~(ways - 1);
    const auto tag = static_cast<std::uint32_t>(key) | 1;
    for (std::size_t i = first; i < first + ways; ++i) {
        if (slots_[i].tag == tag) {
            return &slots_[i];
        }
    }
    return nullptr;
}

void ContextTable::learn(std::uint64_t key, std::uint32_t value) {
    const std::size_t first = (key >> (64 - table_bits)) & ~(ways - 1);
    const auto tag = static_cast<std::uint32_t>(key) | 1;
    Slot* least = &slots_[first];
    for (std::size_t i = first; i < first + ways; ++i) {
        Slot& slot = slots_[i];
        if (slot.tag == tag) {
            ++slot.so_far.all;
            slot.so_far.right += slot.value == value ? 1 : 0;
            if (slot.so_far.all == most_cases) { // what was long ago counts less
                slot.so_far.all /= 2;
                slot.so_far.right /= 2;
            }
            if (slot.value == value) {
                slot.run = std::min(slot.run + 1, most_run);
            } else if (slot.run > 1) {
                slot.run /= 2;
            } else {
                slot.value = value;
                slot.run = 0;
            }
            return;
        }
        least = slot.tag == 0 || slot.run < least->run ? &slot : least;
    }
    if (least->tag != 0 && least->run > 0) {
        --least->run; // what was right often stays for a while
        return;
    }
    *least = {tag, value, 0, {}};
}

} // namespace mmioscope::analysis
