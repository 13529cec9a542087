#include "analysis/last_values.hpp"

#include "system/sorted_runs.hpp"

#include <utility>

namespace mmioscope::analysis {

std::optional<LastValues::Change> LastValues::see(const abi::Record& access) {
    const std::uint64_t place = abi::physical_address(access) << 8 | abi::access_size(access);
    const bool known = (access.flags & abi::flag_value_unknown) == 0;
    auto at = values_.find(place);
    if (at == values_.end()) {
        if (values_.size() == most) {
            ++left_out_.of(key_of(place)).accesses;
            return std::nullopt;
        }
        at = values_.emplace(place, std::nullopt).first;
    } else if (known && at->second == access.value) {
        return std::nullopt;
    }
    const std::optional<std::uint64_t> now = known ? std::optional(access.value) : std::nullopt;
    const std::optional<std::uint64_t> before = std::exchange(at->second, now);
    return Change{known ? before : std::nullopt};
}

std::uint64_t LastValues::left_out() {
    std::uint64_t count = 0;
    left_out_.each([&count](std::string_view, const LeftOut&) { return ++count, true; });
    return count;
}

} // namespace mmioscope::analysis
