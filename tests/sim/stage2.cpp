#include "stage2.hpp"

namespace mmioscope::sim {

namespace {
unsigned shift_of(unsigned level) {
    return 39 - 9 * level;
}
} // namespace

std::uint64_t Translation::output(std::uint64_t input) const {
    const std::uint64_t offset = (std::uint64_t{1} << shift_of(level)) - 1;
    return (descriptor & address_bits & ~offset) | (input & offset);
}

Translation walk_from(const WalkedMemory& memory, std::uint64_t table, unsigned level,
                      std::uint64_t input, TablesOfWalk& tables) {
    for (;; ++level) {
        tables[level] = table;
        const std::uint64_t index = (input >> shift_of(level)) & 0x1ff;
        const std::uint64_t entry = memory.descriptor(table + 8 * index);
        if ((entry & 1) == 0) return {0, level};
        const bool bit1 = (entry & 2) != 0;
        if (level == 3) return bit1 ? Translation{entry, level} : Translation{0, level};
        if (!bit1) return {entry, level};
        table = entry & address_bits;
    }
}

Translation walk(const WalkedMemory& memory, std::uint64_t root, std::uint64_t input) {
    TablesOfWalk tables{};
    return walk_from(memory, root & address_bits, 1, input, tables);
}

} // namespace mmioscope::sim
