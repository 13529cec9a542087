// The last value seen of each register, for print --changes.
#pragma once

#include "mmioscope/event.hpp"
#include "system/capped_map.hpp"

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

    /// The number of accesses to registers beyond `most`.
    std::uint64_t left_out() const { return left_out_; }

private:
    struct Last {
        bool seen = false;
        std::optional<std::uint64_t> value;
    };

    CappedMap<std::unordered_map<std::uint64_t, Last>> values_{most}; ///< by place
    std::uint64_t left_out_ = 0;
};

} // namespace mmioscope::analysis
