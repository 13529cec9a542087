// Which of the traced accesses become records. Changes only while no access is in flight, so the
// holder of a region's lock may read it.
#pragma once

#include "abi/record.hpp"

namespace mmioscope {

/// What an access must look like. A default Pattern matches all accesses.
struct Pattern {
    std::uint32_t directions{3}; ///< bit 0: loads, bit 1: stores
    std::uint64_t address{};
    std::uint32_t address_size{}; ///< bytes; 0: any address
    std::uint32_t value_mask{};
    std::uint32_t value{};   ///< an unknown value matches
    std::uint32_t cpus{~0u}; ///< a bit for each CPU
    std::uint32_t pc{};
    /// Bytes; 0: any PC.
    std::uint32_t pc_size{};

    bool operator==(const Pattern&) const = default;
    bool matches(const abi::Record& r) const {
        const bool unknown = (r.flags & abi::flag_value_unknown) != 0;
        return (directions >> (abi::is_write(r) ? 1 : 0) & 1) != 0 && (cpus >> r.cpu & 1) != 0 &&
               touches(abi::physical_address(r), abi::access_size(r)) &&
               (pc_size == 0 || r.pc - pc < pc_size) &&
               (unknown || (static_cast<std::uint32_t>(r.value) & value_mask) == value);
    }

    /// Whether an access that is known only by its begin record is certain to match. `several`: it
    /// is the first of several accesses of one instruction.
    bool surely_matches(const abi::Record& begin, bool several) const {
        const bool value_known = (begin.flags & abi::flag_value_unknown) == 0 && !several;
        const bool alike = !several || (directions == 3 && address_size == 0);
        return matches(begin) && alike && (value_known || value_mask == 0);
    }

    /// Whether an access of `size` bytes at `at` overlaps the pattern's addresses.
    bool touches(std::uint64_t at, unsigned size) const {
        return address_size == 0 || (at < address + address_size && at + size > address);
    }
};

struct Filter {
    Pattern pattern;
    std::uint32_t one_in{1}; ///< of the accesses that match, per CPU; not 0

    bool operator==(const Filter&) const = default;
};

} // namespace mmioscope
