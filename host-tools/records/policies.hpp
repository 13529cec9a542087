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
    /// Each record, in the order of time.
    void add(const abi::Record& record);

    /// The policy that holds behind the last record, if `first` held before the first one.
    abi::Policy now(abi::Policy first) const { return changes_ == 0 ? first : now_; }

    /// "policy: drop", "policy: drop, then stall", ...: one line, however many changes there were,
    /// without its end. `first`: nothing if the description is gone.
    std::string line(std::optional<abi::Policy> first) const;

private:
    std::vector<abi::Policy> first_changes_; ///< the first few, each other than the one before
    std::uint64_t changes_ = 0;
    abi::Policy now_{};
};

} // namespace mmioscope::trace
