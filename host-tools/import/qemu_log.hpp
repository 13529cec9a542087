// Converts QEMU's log of accesses (import/access_log.hpp) to a trace.
#pragma once

#include "abi/ring.hpp"
#include "import/importing.hpp"
#include "system/byte_source.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace mmioscope::importing {

/// Writes the trace to `fd`. Throws Error (bad_input) if the log has no accesses.
Report import_qemu_log(ByteSource& log, int fd);

// The regions of an import: named ranges of addresses that do not overlap.

class RegionList {
public:
    /// Adds a region, unless it overlaps another or there are too many. `path` is for its name,
    /// "/...".
    void add(std::uint64_t base, std::uint64_t size, const std::string& path, unsigned index = 0);

    /// Adds a mapping. finish() makes a region "map@BASE" of the parts that belong to no region,
    /// joined with adjacent ones.
    void add_mapping(std::uint64_t base, std::uint64_t size);

    /// Call it after the last add() and add_mapping().
    void finish();

    const std::vector<abi::RegionEntry>& regions() const { return regions_; }
    /// The region of an address; abi::no_device if there is none.
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
