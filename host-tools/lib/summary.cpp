#include "lib/summary.hpp"

#include <numeric>

namespace mmioscope::trace {

template <typename T>
void Summary::add_each(std::span<const T> records) {
    if (records.empty()) {
        return;
    }
    start_ = start_.value_or(record_of(records.front()).time);
    for (auto at = records.begin(); at != records.end();) {
        if (record_of(*at).type == abi::RecordType::access) {
            at = add_accesses(at, records.end());
        } else {
            add(record_of(*at++));
        }
    }
    last_ = record_of(records.back()).time;
}

void Summary::add(std::span<const abi::Record> records) {
    add_each(records);
}

void Summary::add(std::span<const Event> events) {
    add_each(events);
}

std::map<std::uint16_t, DeviceCount> Summary::devices() const {
    std::map<std::uint16_t, DeviceCount> all;
    const auto add = [&all](std::size_t index, const DeviceCount& device) {
        if (device.reads + device.writes > 0) {
            all.emplace(static_cast<std::uint16_t>(index), device);
        }
    };
    for (std::size_t i = 0; i < devices_.size(); ++i) {
        add(i, devices_[i]);
    }
    add(abi::no_device, other_);
    return all;
}

// Those of one CPU to one device, as long as they come one behind the other: it is looked up once.
// Returns where they end.
template <typename Place>
Place Summary::add_accesses(Place first, Place end) {
    const abi::Record& one = record_of(*first);
    const auto goes_on = [&one](const abi::Record& record) {
        return record.type == abi::RecordType::access && record.device == one.device &&
               record.cpu == one.cpu;
    };
    std::uint64_t writes = 0;
    Place at = first;
    do {
        writes += abi::is_write(record_of(*at)) ? 1 : 0;
        ++at;
    } while (at != end && goes_on(record_of(*at)));
    const auto count = static_cast<std::uint64_t>(at - first);
    types_[static_cast<std::uint8_t>(abi::RecordType::access)] += count;
    DeviceCount& device = count_of(one.device);
    if (device.reads + device.writes == 0) {
        device.first_time = one.time;
    }
    device.last_time = record_of(at[-1]).time;
    device.cpus |= 1u << (one.cpu % 32);
    device.writes += writes;
    device.reads += count - writes;
    return at;
}

std::uint64_t Summary::count(abi::RecordType type) const {
    return types_[static_cast<std::uint8_t>(type)];
}

std::uint64_t Summary::records() const {
    return std::accumulate(std::begin(types_), std::end(types_), std::uint64_t{0});
}

} // namespace mmioscope::trace
