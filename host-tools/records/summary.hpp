// Counts the records of a trace by device, and keeps the policies that applied.
#pragma once

#include "abi/record.hpp"
#include "abi/ring.hpp"
#include "records/runs.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace mmioscope::trace {

// The policies in force while a trace was recorded: the first one, and the changes in its records.

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

/// The accesses to one device.
struct DeviceCount {
    std::uint64_t reads = 0;
    std::uint64_t writes = 0;
    std::uint32_t cpus = 0;       ///< bit n: CPU n
    std::uint64_t first_time = 0; ///< CNTPCT
    std::uint64_t last_time = 0;
};

class Summary {
public:
    /// Adds records in the order of the trace.
    void add(const Run& run) {
        const abi::Record& first = *run.first;
        if (!start_) {
            start_ = first.time;
        }
        last_ = run.last->time;
        types_[static_cast<std::uint8_t>(first.type)] += run.count;
        if (first.type != abi::RecordType::access) {
            policies_.add(first);
            return;
        }
        DeviceCount& device =
            first.device < devices_.size() ? devices_[first.device] : new_device(first.device);
        if (device.reads + device.writes == 0) {
            device.first_time = first.time;
        }
        device.last_time = run.last->time;
        device.cpus |= 1u << (first.cpu % 32);
        device.writes += run.writes;
        device.reads += run.count - run.writes;
    }
    void add(const abi::Record& record) { add({&record, &record, 1, abi::is_write(record)}); }

    /// The accessed devices, by device index; abi::no_device for accesses outside every region.
    std::map<std::uint16_t, DeviceCount> devices() const;

    std::uint64_t events() const { return count(abi::RecordType::access); } ///< of the guest
    std::uint64_t count(abi::RecordType type) const;
    std::uint64_t records() const;
    const Policies& policies() const { return policies_; }
    std::optional<std::uint64_t> start() const { return start_; } ///< time of the first record
    std::optional<std::uint64_t> last() const { return last_; }   ///< time of the last record

private:
    DeviceCount& new_device(std::uint16_t device);

    std::vector<DeviceCount> devices_; ///< by device index; other_ has no_device
    DeviceCount other_;
    std::uint64_t types_[256] = {};
    Policies policies_;
    std::optional<std::uint64_t> start_, last_;
};

} // namespace mmioscope::trace
