// How CPUs shared a device: who accessed it how often, and how long each had to wait. Computed only
// from records.
#pragma once

#include "abi/record.hpp"
#include "records/verdict.hpp"
#include "table/table.hpp"

#include <cstdint>
#include <map>
#include <span>

namespace mmioscope::trace {

/// The accesses of one CPU to one device.
struct Share {
    std::uint64_t accesses = 0;
    std::uint32_t most_between = 0;  ///< most accesses by others between two of its own
    std::uint64_t longest_pause = 0; ///< ticks from the end of one access to the begin of the next
    std::uint32_t last_sequence = 0; ///< Record::lock_sequence of its last access
    std::uint64_t last_end = 0;      ///< CNTPCT
};

class Shares {
public:
    void add(std::span<const abi::Record> records);

    /// For people: one row for each CPU of each device that several CPUs accessed.
    table::Table table(const ReportContext& context) const;

private:
    std::map<std::uint16_t, std::map<std::uint8_t, Share>> devices_;
};

} // namespace mmioscope::trace
