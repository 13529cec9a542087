// Registers that carry data: they gave, or took, many different values.
#pragma once

#include "abi/record.hpp"
#include "analysis/repeats.hpp"

#include <array>
#include <cstdint>

namespace mmioscope::analysis {

/// Knows the last registers of a table of constant size; of what it does not know it says no.
class DataRegisters {
public:
    void add(const abi::Record& record);
    /// Of the register and the direction of `record`: about 32 different values were seen, or more.
    bool has(const abi::Record& record) const { return has(place_of(record)); }
    bool has(std::uint64_t place) const;

private:
    struct Slot {
        std::uint64_t place = 0;
        std::uint64_t values = 0; ///< a bit for each of 64 kinds
    };
    /// Of 64 bits, 32 values that a hash distributes set so many.
    static constexpr int many = 25;
    static constexpr unsigned slot_bits = 10;
    static std::size_t slot_of(std::uint64_t place);

    std::array<Slot, std::size_t{1} << slot_bits> slots_{};
};

} // namespace mmioscope::analysis
