// Which accesses become records, of those that are traced. Changes only while no access is in
// flight, so whoever holds a region's lock may read it.
#pragma once

#include "abi/record.hpp"

namespace mmioscope {

/// What accesses may look like. As it is made, all do.
struct Pattern {
    std::uint32_t directions{3}; ///< bit 0: loads, bit 1: stores
    std::uint64_t address{};
    std::uint32_t address_size{}; ///< 0: any; so below
    std::uint32_t value_mask{};
    std::uint32_t value{};   ///< unknown values match
    std::uint32_t cpus{~0u}; ///< a bit for each
    std::uint32_t pc{};
    std::uint32_t pc_size{};

    bool operator==(const Pattern&) const = default;
    bool matches(const abi::Record& r) const {
        const bool unknown = (r.flags & abi::flag_value_unknown) != 0;
        return (directions >> (abi::is_write(r) ? 1 : 0) & 1) != 0 && (cpus >> r.cpu & 1) != 0 &&
               touches(abi::physical_address(r), abi::access_size(r)) &&
               (pc_size == 0 || r.pc - pc < pc_size) &&
               (unknown || (static_cast<std::uint32_t>(r.value) & value_mask) == value);
    }

    /// Whether an access of which only its begin record is known is certain to match. `several`: it
    /// is an instruction's first one.
    bool surely_matches(const abi::Record& begin, bool several) const {
        const bool value_known = (begin.flags & abi::flag_value_unknown) == 0 && !several;
        const bool alike = !several || (directions == 3 && address_size == 0);
        return matches(begin) && alike && (value_known || value_mask == 0);
    }

    /// Whether an access of `size` bytes at `at` is to where it looks.
    bool touches(std::uint64_t at, unsigned size) const {
        return address_size == 0 || (at < address + address_size && at + size > address);
    }
};

struct Filter {
    Pattern pattern;
    std::uint32_t one_in{1}; ///< of those that match, for each CPU; not 0

    bool operator==(const Filter&) const = default;
};

} // namespace mmioscope
