#include "verify/behind_end.hpp"

#include <algorithm>

namespace mmioscope::verify {

namespace {

/// A driver does less than this before the power is off; more means that the trace was cut off.
constexpr std::size_t most_behind = 64;

} // namespace

std::uint64_t leave_out_behind_end(std::vector<Difference>& differences,
                                   std::span<const logs::Event> events, const Matching& matching) {
    bool ends = false;
    std::uint32_t last = 0; // line that matches the trace
    for (std::size_t event = 0; event < events.size(); ++event) {
        if (matching.line_of[event] != logs::nowhere) {
            ends |= (events[event].flags & abi::flag_early) != 0;
            last = std::max(last, matching.line_of[event]);
        }
    }
    const auto behind = [last](const Difference& difference) {
        return difference.kind == Kind::missing && difference.line > last;
    };
    const auto count = std::count_if(differences.begin(), differences.end(), behind);
    if (!ends || count > static_cast<std::ptrdiff_t>(most_behind)) {
        return 0;
    }
    return std::erase_if(differences, behind);
}

} // namespace mmioscope::verify
