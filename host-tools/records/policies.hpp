// The policies in force while a trace was recorded: the first one, and the changes in its records.
#pragma once

#include "abi/record.hpp"
#include "abi/ring.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mmioscope::trace {

class Policies {
public:
    /// Adds each record, in the order of time.
    void add(const abi::Record& record);

    /// The policy after the last record, if `first` applied before the first one.
    abi::Policy now(abi::Policy first) const { return changes_ == 0 ? first : now_; }

    /// "policy: drop", "policy: drop, then stall", ...: one line without line end, for any number
    /// of changes. `first`: nothing if the description is lost.
    std::string line(std::optional<abi::Policy> first) const;

private:
    std::vector<abi::Policy> first_changes_; ///< the first few, each unlike the one before
    std::uint64_t changes_ = 0;
    abi::Policy now_{};
};

} // namespace mmioscope::trace
