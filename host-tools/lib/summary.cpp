#include "lib/summary.hpp"

#include <numeric>

namespace mmioscope::trace {

void Summary::add(std::span<const abi::Record> records) {
    if (records.empty()) {
        return;
    }
    start_ = start_.value_or(records.front().time);
    for (Place at = records.begin(); at != records.end();) {
        if (at->type == abi::RecordType::access) {
            at = add_accesses(at, records.end());
        } else {
            add(*at++);
        }
    }
    last_ = records.back().time;
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
Summary::Place Summary::add_accesses(Place first, Place end) {
    std::uint64_t writes = 0;
    Place at = first;
    do {
        writes += abi::is_write(*at) ? 1 : 0;
        ++at;
    } while (at != end && at->type == abi::RecordType::access && at->device == first->device &&
             at->cpu == first->cpu);
    const auto count = static_cast<std::uint64_t>(at - first);
    types_[static_cast<std::uint8_t>(abi::RecordType::access)] += count;
    DeviceCount& device = count_of(first->device);
    if (device.reads + device.writes == 0) {
        device.first_time = first->time;
    }
    device.last_time = at[-1].time;
    device.cpus |= 1u << (first->cpu % 32);
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
