#include "lib/report_context.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mmioscope::trace {

std::string format_time(std::uint64_t ticks, const ReportContext& context) {
    const std::uint64_t since = ticks - std::min(ticks, context.start);
    if (context.frequency == 0) {
        return fmt::format("{}t", since);
    }
    const std::uint64_t seconds = since / context.frequency;
    const std::uint64_t micros = since % context.frequency * 1'000'000 / context.frequency;
    return fmt::format("{}.{:06}", seconds, micros);
}

} // namespace mmioscope::trace
