// The code addresses of a trace: what its records were made by, and where that was called from.
#pragma once

#include "file/file_reader.hpp"
#include "records/callers.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_set>
#include <vector>

namespace mmioscope::trace {

/// Finds which names of code a finished file needs. A kernel has 50,000 functions, and some hundred
/// of them access devices: in the file of a short boot the others would take more than the records.
class UsedCode {
public:
    /// With more addresses, the names stay as they are. A boot has some thousand.
    static constexpr std::size_t most_addresses = 1u << 17;

    /// Takes the next section of the file.
    void see(const Section& section);

    /// The addresses that readers look up, sorted; nothing if names may be needed for others.
    std::optional<std::vector<std::uint32_t>> addresses() const;

private:
    void add(std::uint32_t address);
    void add_return(Caller address);

    std::unordered_set<std::uint32_t> addresses_;
    std::array<std::uint32_t, 1024> recent_{}; ///< some of addresses_, by a hash; 0: none
    std::optional<std::uint32_t> memory_;      ///< the region whose addresses have names, too
    bool all_ = false;                         ///< each name may be needed
};

} // namespace mmioscope::trace
