#include "lib/summary.hpp"

#include <numeric>

namespace mmioscope::trace {

void Summary::add(std::span<const abi::Record> records) {
    for (const abi::Record& record : records) {
        add(record);
    }
}

void Summary::add(const abi::Record& record) {
    start_ = start_.value_or(record.time);
    last_ = record.time;
    ++types_[static_cast<std::uint8_t>(record.type)];
    policies_.add(record);
    if (record.type != abi::RecordType::access) {
        return;
    }
    DeviceCount& device = devices_[record.device];
    if (device.reads + device.writes == 0) {
        device.first_time = record.time;
    }
    device.last_time = record.time;
    device.cpus |= 1u << (record.cpu % 32);
    ++(abi::is_write(record) ? device.writes : device.reads);
}

std::uint64_t Summary::count(abi::RecordType type) const {
    return types_[static_cast<std::uint8_t>(type)];
}

std::uint64_t Summary::records() const {
    return std::accumulate(std::begin(types_), std::end(types_), std::uint64_t{0});
}

} // namespace mmioscope::trace
