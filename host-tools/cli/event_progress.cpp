#include "cli/event_progress.hpp"

namespace mmioscope::cli {

void EventProgress::show(std::uint64_t events) {
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start_;
    line_.show(time.count(), [&] { return fmt::format("{} events {}", events, did_); });
}

} // namespace mmioscope::cli
