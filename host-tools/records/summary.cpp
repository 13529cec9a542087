#include "records/summary.hpp"

#include "abi/control.hpp"
#include "records/record_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>

namespace mmioscope::trace {

namespace {
constexpr std::size_t most_first = 4;
}

void Policies::add(const abi::Record& record) {
    if (record.type != abi::RecordType::configuration ||
        abi::control::tag_command(record.pa_low) != abi::control::Command::policy) {
        return;
    }
    const auto policy = static_cast<abi::Policy>(static_cast<std::uint32_t>(record.value));
    if (changes_ > 0 && policy == now_) {
        return; // no change
    }
    now_ = policy;
    ++changes_;
    if (first_changes_.size() < most_first) {
        first_changes_.push_back(policy);
    }
}

std::string Policies::line(std::optional<abi::Policy> first) const {
    std::string line = fmt::format("policy: {}", first ? policy_text(*first) : "not known");
    const bool no_change = first && !first_changes_.empty() && first_changes_.front() == *first;
    const auto others = std::span(first_changes_).subspan(no_change ? 1 : 0);
    const std::uint64_t changes = changes_ - (no_change ? 1 : 0);
    const std::size_t shown = std::min(others.size(), most_first - 1);
    for (std::size_t i = 0; i < shown; ++i) {
        line += fmt::format("{}{}", i == 0 ? ", then " : ", ", policy_text(others[i]));
    }
    return changes > shown ? line + fmt::format(", ... ({} changes)", changes) : line;
}

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
