#include "analysis/last_values.hpp"

#include <utility>

namespace mmioscope::analysis {

std::optional<LastValues::Change> LastValues::see(const abi::Record& access) {
    const std::uint64_t place = abi::physical_address(access) << 8 | abi::access_size(access);
    const bool known = (access.flags & abi::flag_value_unknown) == 0;
    Last& last = values_.of(place);
    if (values_.is_rest(last)) {
        ++left_out_;
        return std::nullopt;
    }
    if (std::exchange(last.seen, true) && known && last.value == access.value) {
        return std::nullopt;
    }
    const std::optional<std::uint64_t> now = known ? std::optional(access.value) : std::nullopt;
    const std::optional<std::uint64_t> before = std::exchange(last.value, now);
    return Change{known ? before : std::nullopt};
}

} // namespace mmioscope::analysis
