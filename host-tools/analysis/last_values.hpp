// The last value seen of each register, for print --changes.
#pragma once

#include "mmioscope/event.hpp"
#include "system/spilled_map.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>

namespace mmioscope::analysis {

class LastValues {
public:
    static constexpr std::size_t most = 16'384; ///< registers that are remembered

    struct Change {
        std::optional<std::uint64_t> before; ///< nothing: the first value, or after an unknown one
    };

    /// `access`, which has a value, is the next one. Nothing: it changes nothing, or its register
    /// is left out. Accesses of another address or size are to another register. A value that is
    /// not known is a change.
    std::optional<Change> see(const abi::Record& access);

    /// The number of registers beyond `most`. Their numbers are in temporary files.
    std::uint64_t left_out();

private:
    struct LeftOut {
        std::uint64_t accesses = 0;
        void add(const LeftOut& same) { accesses += same.accesses; }
    };

    std::unordered_map<std::uint64_t, std::optional<std::uint64_t>> values_; ///< by place
    SpilledMap<LeftOut> left_out_{1024};
};

} // namespace mmioscope::analysis
