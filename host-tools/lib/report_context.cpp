#include "lib/report_context.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mmioscope::trace {

std::string format_duration(std::uint64_t ticks, const ReportContext& context) {
    if (context.frequency == 0) {
        return fmt::format("{}t", ticks);
    }
    const std::uint64_t seconds = ticks / context.frequency;
    const std::uint64_t micros = ticks % context.frequency * 1'000'000 / context.frequency;
    return fmt::format("{}.{:06}", seconds, micros);
}

std::string format_time(std::uint64_t ticks, const ReportContext& context) {
    return format_duration(ticks - std::min(ticks, context.start), context);
}

} // namespace mmioscope::trace
