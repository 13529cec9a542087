#include "records/summary.hpp"

#include <numeric>

namespace mmioscope::trace {

// no_device is larger than any index, and new each time.
DeviceCount& Summary::new_device(std::uint16_t device) {
    if (device == abi::no_device) {
        return other_;
    }
    devices_.resize(device + 1u);
    return devices_[device];
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

std::uint64_t Summary::count(abi::RecordType type) const {
    return types_[static_cast<std::uint8_t>(type)];
}

std::uint64_t Summary::records() const {
    return std::accumulate(std::begin(types_), std::end(types_), std::uint64_t{0});
}

} // namespace mmioscope::trace
