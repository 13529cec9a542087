#include "tlb.hpp"

namespace mmioscope::sim {

namespace {

constexpr std::uint64_t address_bits = 0xff'ffff'f000;

unsigned shift_of(unsigned level) { return 39 - 9 * level; }
Tlb::Key page_key(std::uint64_t vttbr, std::uint64_t input) { return {vttbr >> 48, input >> 12}; }
Tlb::Key block_key(std::uint64_t vttbr, std::uint64_t input) { return {vttbr >> 48, input >> 21}; }

/// Walks on from `table` of `level`; `last` becomes the table the walk ended in.
Translation walk_from(const Ram& ram, std::uint64_t table, unsigned level, std::uint64_t input,
                      std::uint64_t& last) {
    for (;; ++level) {
        last = table;
        const std::uint64_t index = (input >> shift_of(level)) & 0x1ff;
        const auto entry = ram.load<std::uint64_t>(table + 8 * index);
        if ((entry & 1) == 0) return {0, level};
        const bool bit1 = (entry & 2) != 0;
        if (level == 3) return bit1 ? Translation{entry, level} : Translation{0, level};
        if (!bit1) return {entry, level};
        table = entry & address_bits;
    }
}

} // namespace

std::uint64_t Translation::output(std::uint64_t input) const {
    const std::uint64_t offset = (std::uint64_t{1} << shift_of(level)) - 1;
    return (descriptor & address_bits & ~offset) | (input & offset);
}

Translation walk(const Ram& ram, std::uint64_t root, std::uint64_t input) {
    std::uint64_t last = 0;
    return walk_from(ram, root & address_bits, 1, input, last);
}

Translation Tlb::translate(const Ram& ram, std::uint64_t vttbr, std::uint64_t input) {
    if (const auto leaf = leaves_.find(page_key(vttbr, input)); leaf != leaves_.end())
        return leaf->second;
    const auto table = tables_.find(block_key(vttbr, input));
    std::uint64_t last = 0;
    const Translation found =
        table != tables_.end() ? walk_from(ram, table->second, 3, input, last)
                               : walk_from(ram, vttbr & address_bits, 1, input, last);
    if (found.level == 3) tables_[block_key(vttbr, input)] = last;
    if (found.valid()) leaves_[page_key(vttbr, input)] = found;
    return found;
}

bool Tlb::holds(std::uint64_t vttbr, std::uint64_t input) const {
    return leaves_.contains(page_key(vttbr, input));
}

void Tlb::forget_page(std::uint64_t vttbr, std::uint64_t input) {
    leaves_.erase(page_key(vttbr, input));
    tables_.erase(block_key(vttbr, input));
}

void Tlb::forget_all() {
    leaves_.clear();
    tables_.clear();
}

} // namespace mmioscope::sim
