// The regions of an import: ranges of addresses with names, none of which overlap.
#pragma once

#include "abi/ring.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace mmioscope::importing {

class RegionList {
public:
    /// A region, unless one is there already, or there are too many. `path`: of its name, "/...".
    void add(std::uint64_t base, std::uint64_t size, const std::string& path, unsigned index = 0);

    /// A mapping: what of it belongs to no region is one, "map@BASE", together with what touches
    /// it. Known after finish().
    void add_mapping(std::uint64_t base, std::uint64_t size);

    /// All have been added.
    void finish();

    const std::vector<abi::RegionEntry>& regions() const { return regions_; }
    /// Of an address; abi::no_device if it is in none.
    std::uint16_t find(std::uint64_t address) const;
    std::uint64_t left_out() const { return left_out_; }

private:
    struct Range {
        std::uint64_t base;
        std::uint64_t end;
    };

    std::vector<Range> free_ranges() const;
    std::uint64_t end_of(std::size_t index) const;
    const abi::RegionEntry* at(std::uint64_t address) const;

    static constexpr std::size_t most = 4096;

    std::vector<abi::RegionEntry> regions_;
    std::map<std::uint64_t, std::uint16_t> by_base_;
    std::map<std::uint64_t, std::uint64_t> mappings_; ///< base to end
    std::uint64_t left_out_ = 0;
};

} // namespace mmioscope::importing
