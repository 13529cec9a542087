#include "verify/behind_end.hpp"

#include <algorithm>
#include <optional>

namespace mmioscope::verify {

namespace {

/// A driver does less than this before the power is off; more means that the trace was cut off.
constexpr std::size_t most_behind = 64;

/// Bytes that one instruction reaches: VLDM of sixteen doublewords.
constexpr std::uint64_t longest = 128;

/// The last line that matches an event of `cpu`; nothing if none does.
std::optional<std::uint32_t> last_line_of(unsigned cpu, std::span<const importing::Event> events,
                                          const Matching& matching) {
    std::optional<std::uint32_t> last;
    for (std::size_t event = 0; event < events.size(); ++event) {
        const std::uint32_t line = matching.line_of[event];
        if (events[event].cpu == cpu && line != importing::nowhere) {
            last = std::max(last.value_or(0), line);
        }
    }
    return last;
}

} // namespace

std::uint64_t leave_out_unfinished(std::vector<Difference>& differences,
                                   std::span<const importing::Line> lines,
                                   std::span<const importing::Event> events, const Matching& matching,
                                   std::span<const trace::UnfinishedAccess> unfinished) {
    std::uint64_t count = 0;
    for (const trace::UnfinishedAccess& access : unfinished) {
        const std::optional<std::uint32_t> last = last_line_of(access.cpu, events, matching);
        count += std::erase_if(differences, [&](const Difference& difference) {
            if (difference.kind != Kind::missing || (last && difference.line < *last)) {
                return false;
            }
            const importing::Line& line = lines[difference.line];
            return line.kind == importing::LineKind::access && line.cpu == static_cast<int>(access.cpu) &&
                   line.address - access.pa < longest;
        });
    }
    return count;
}

std::uint64_t leave_out_behind_end(std::vector<Difference>& differences,
                                   std::span<const importing::Event> events, const Matching& matching) {
    bool ends = false;
    std::uint32_t last = 0; // line that matches the trace
    for (std::size_t event = 0; event < events.size(); ++event) {
        if (matching.line_of[event] != importing::nowhere) {
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
