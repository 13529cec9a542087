// The distinct groups of words in a block, numbered in the order of first occurrence.
#pragma once

#include "file/block.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace mmioscope::trace {

template <std::size_t words>
class Dictionary {
public:
    using Entry = std::array<std::uint32_t, words>;

    void clear() {
        entries_.clear();
        behind_.clear();
        slots_.fill(none);
        last_ = 0;
    }

    /// The number of `entry`, which is added if it is new. At most most_records entries.
    std::uint16_t number(const Entry& entry) {
        // The successor of an entry is usually the same as before.
        if (!entries_.empty() && entries_[behind_[last_]] == entry) {
            return last_ = behind_[last_];
        }
        const std::uint16_t found = find(entry);
        if (!behind_.empty()) {
            behind_[last_] = found;
        }
        behind_.resize(entries_.size());
        return last_ = found;
    }

    std::span<const Entry> entries() const { return entries_; }

private:
    static constexpr std::uint16_t none = 0xffff;
    static constexpr unsigned slot_bits = 13; // twice as many slots as entries
    static_assert(most_records * 2 == 1u << slot_bits);

    std::uint16_t find(const Entry& entry) {
        std::uint32_t hash = 0;
        for (const std::uint32_t word : entry) {
            hash = (hash ^ word) * 0x9e37'79b1;
            hash ^= hash >> 15;
        }
        for (std::size_t slot = hash >> (32 - slot_bits);; slot = (slot + 1) % slots_.size()) {
            if (slots_[slot] == none) {
                slots_[slot] = static_cast<std::uint16_t>(entries_.size());
                entries_.push_back(entry);
            }
            if (entries_[slots_[slot]] == entry) {
                return slots_[slot];
            }
        }
    }

    std::vector<Entry> entries_;
    std::vector<std::uint16_t> behind_; ///< last successor of each entry
    std::uint16_t last_ = 0;
    std::array<std::uint16_t, std::size_t{1} << slot_bits> slots_{};
};

} // namespace mmioscope::trace
