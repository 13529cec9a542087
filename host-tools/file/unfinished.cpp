#include "file/unfinished.hpp"

#include "records/verdict.hpp"

#include <fmt/format.h>

#include <cinttypes>
#include <cstdio>

namespace mmioscope::trace {

std::string lines_of(std::span<const UnfinishedAccess> accesses) {
    std::string lines;
    for (const UnfinishedAccess& access : accesses) {
        lines += fmt::format("in-flight.cpu{}=pa {:#x} pc {:#x} time {}\n", access.cpu, access.pa,
                             access.pc, access.time);
    }
    return lines;
}

std::optional<UnfinishedAccess> unfinished_access(std::string_view key, std::string_view value) {
    UnfinishedAccess access{};
    const std::string text = std::string(key) + " " + std::string(value);
    const int found =
        std::sscanf(text.c_str(), "in-flight.cpu%u pa %" SCNx64 " pc %" SCNx32 " time %" SCNu64,
                    &access.cpu, &access.pa, &access.pc, &access.time);
    return found == 4 ? std::optional(access) : std::nullopt;
}

std::vector<UnfinishedAccess> unfinished_accesses(const std::map<std::string, std::string>& text) {
    std::vector<UnfinishedAccess> accesses;
    for (const auto& [key, value] : text) {
        if (const auto access = unfinished_access(key, value)) {
            accesses.push_back(*access);
        }
    }
    return accesses;
}

std::string why_unfinished(std::span<const UnfinishedAccess> accesses,
                           std::optional<abi::Ending> ending) {
    using enum abi::Ending;
    const bool over =
        ending == machine_off || ending == machine_reset || ending == halted || ending == panicked;
    if (!over || accesses.empty()) {
        return "";
    }
    std::string text(incomplete_ending(*ending));
    for (const UnfinishedAccess& access : accesses) {
        text += fmt::format("{}cpu {} was in the middle of an access to {:#010x}",
                            text.empty() ? "" : ", ", access.cpu, access.pa);
    }
    return text;
}

} // namespace mmioscope::trace
