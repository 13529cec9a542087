#include "lib/verdict.hpp"

#include "lib/lost.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mmioscope::trace {

std::string verdict(const Summary& summary, std::span<const abi::Loss> losses,
                    const std::string& why_incomplete) {
    const std::uint64_t lost = sum_of(losses);
    if (lost == 0 && why_incomplete.empty()) {
        return fmt::format("complete: {} events, 0 lost", summary.events());
    }
    std::string line = fmt::format("incomplete: {} events, {} lost", summary.events(), lost);
    constexpr std::size_t most = 8;
    for (std::size_t i = 0; i < std::min(losses.size(), most); ++i) {
        line += fmt::format("{}cpu {}: {} from sequence {}", i == 0 ? " (" : ", ", losses[i].cpu,
                            losses[i].count, losses[i].first_sequence);
    }
    line += losses.size() > most ? fmt::format(", {} more places", losses.size() - most) : "";
    line += losses.empty() ? "" : ")";
    return why_incomplete.empty() ? line : line + "; " + why_incomplete;
}

Status status_of(abi::Ending ending, bool complete) {
    if (ending == abi::Ending::interrupted) {
        return Status::interrupted;
    }
    return complete ? Status::fine : Status::failed;
}

} // namespace mmioscope::trace
