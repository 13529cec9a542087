// Registers that carry data: reads or writes had many different values.
#pragma once

#include "abi/record.hpp"
#include "analysis/loop.hpp"

#include <array>
#include <cstdint>

namespace mmioscope::analysis {

/// Remembers the latest registers in a table of constant size. Registers that it has forgotten do
/// not count as data.
class DataRegisters {
public:
    void add(const abi::Record& record);
    /// Whether accesses to the register of `record`, in its direction, had about 32 different
    /// values or more.
    bool has(const abi::Record& record) const { return has(place_of(record)); }
    bool has(std::uint64_t place) const;

private:
    struct Slot {
        std::uint64_t place = 0;
        std::uint64_t values = 0; ///< a bit for each of 64 hashes that occurred
    };
    /// 32 different values set about this many of the 64 bits.
    static constexpr int many = 25;
    static constexpr unsigned slot_bits = 10;
    static std::size_t slot_of(std::uint64_t place);

    std::array<Slot, std::size_t{1} << slot_bits> slots_{};
};

} // namespace mmioscope::analysis
