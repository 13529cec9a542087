// Follows the begin records of a trace in `pre` mode: which accesses have begun but not ended.
#pragma once

#include "abi/record.hpp"

#include <map>
#include <optional>
#include <vector>

namespace mmioscope::trace {

class OpenAccesses {
public:
    /// The next record of the stream; those of one CPU in the order it published them. Returns the
    /// begin record of an access that this one shows to have no end: its CPU went on without. Where
    /// records are missing in between, nobody knows, and there is none.
    std::optional<abi::Record> add(const abi::Record& record);

    /// None has begun.
    bool empty() const { return begun_.empty(); }
    /// Those that have begun, and of which nothing came since; by CPU.
    std::vector<abi::Record> open() const;

private:
    std::map<unsigned, abi::Record> begun_;
};

} // namespace mmioscope::trace
