#include "tlb.hpp"

namespace mmioscope::sim {

namespace {
constexpr std::uint64_t address_bits = 0xff'ffff'f000;
std::uint64_t page_of(std::uint64_t address) { return address >> 12; }
unsigned shift_of(unsigned level) { return 39 - 9 * level; }
} // namespace

std::uint64_t Translation::output(std::uint64_t input) const {
    const std::uint64_t offset = (std::uint64_t{1} << shift_of(level)) - 1;
    return (descriptor & address_bits & ~offset) | (input & offset);
}

Translation walk(const Ram& ram, std::uint64_t root, std::uint64_t input) {
    std::uint64_t table = root & address_bits;
    for (unsigned level = 1;; ++level) {
        const std::uint64_t index = (input >> shift_of(level)) & 0x1ff;
        const auto entry = ram.load<std::uint64_t>(table + 8 * index);
        if ((entry & 1) == 0) return {0, level};
        const bool bit1 = (entry & 2) != 0;
        if (level == 3) return bit1 ? Translation{entry, level} : Translation{0, level};
        if (!bit1) return {entry, level};
        table = entry & address_bits;
    }
}

const Translation* Tlb::find(unsigned vmid, std::uint64_t input) const {
    const auto found = entries_.find({vmid, page_of(input)});
    return found != entries_.end() ? &found->second : nullptr;
}

void Tlb::fill(unsigned vmid, std::uint64_t input, const Translation& leaf) {
    if (leaf.valid()) entries_[{vmid, page_of(input)}] = leaf;
}

void Tlb::forget(unsigned vmid) {
    entries_.erase(entries_.lower_bound({vmid, 0}), entries_.lower_bound({vmid + 1, 0}));
}

void Tlb::forget_page(unsigned vmid, std::uint64_t input) {
    entries_.erase({vmid, page_of(input)});
}

} // namespace mmioscope::sim
