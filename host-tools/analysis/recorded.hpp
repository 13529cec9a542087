// Whether all accesses to watched memory have records.
#pragma once

#include "abi/control.hpp"
#include "abi/record.hpp"

namespace mmioscope::analysis {

class Recorded {
public:
    /// True: there may be accesses without a record between those before this record and those
    /// behind it.
    bool add(const abi::Record& record) {
        using abi::control::Command;
        if (record.type != abi::RecordType::configuration) {
            return record.type == abi::RecordType::gap;
        }
        switch (abi::control::tag_command(record.pa_low)) {
        case Command::filter_directions:
        case Command::filter_addresses:
        case Command::filter_values:
        case Command::filter_cpus:
        case Command::filter_pcs:
        case Command::sample: all_ = false; return true;
        case Command::no_filter: all_ = true; return true;
        default: return true;
        }
    }
    /// Whether none is missing behind it.
    bool all() const { return all_; }

private:
    bool all_ = true;
};

} // namespace mmioscope::analysis
