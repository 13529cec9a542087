// Follows the begin records of a trace in `pre` mode: which accesses have begun but not ended.
#pragma once

#include "abi/record.hpp"

#include <map>
#include <optional>
#include <vector>

namespace mmioscope::trace {

class OpenAccesses {
public:
    /// Adds the next record of the stream; each CPU's in the order in which it published them.
    /// Returns the begin record of an access that has no end, because its CPU went on without one.
    /// Nothing if records are missing in between: then nobody knows.
    std::optional<abi::Record> add(const abi::Record& record);

    /// Whether no access is open.
    bool empty() const { return begun_.empty(); }
    /// The begin records of accesses whose CPUs have published nothing since, by CPU.
    std::vector<abi::Record> open() const;

private:
    std::map<unsigned, abi::Record> begun_;
};

} // namespace mmioscope::trace
