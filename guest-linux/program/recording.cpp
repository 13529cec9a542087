#include "recording.hpp"

#include "file/unfinished.hpp"
#include "records/verdict.hpp"

#include <fmt/format.h>

#include <chrono>
#include <thread>

namespace mmioscope::guest {

Recording::Recording(const rings::Area& area, Output& output, LeftOut left_out)
    : area_(area), output_(output), left_out_(std::move(left_out)), rings_(area, abi::drain_reader),
      losses_(area.header().cpu_count) {}

std::size_t Recording::pass() {
    const std::size_t count = rings_.pass(ordered_);
    deliver();
    return count;
}

void Recording::deliver() {
    left_out_.apply(ordered_);
    trace::add_runs(std::span<const abi::Record>(ordered_), losses_, summary_);
    output_.append(ordered_);
    ordered_.clear();
}

void Recording::finish(abi::Ending ending) {
    rings_.stop();
    settle();
    rings_.leave();
    std::vector<std::uint32_t> next;
    for (unsigned cpu = 0; cpu < rings_.rings().size(); ++cpu) {
        next.push_back(left_out_.renumbered(cpu, rings_.rings()[cpu].next_sequence()));
        losses_.finish_at(cpu, next.back());
    }
    output_.finish({ending, losses_, area_.statistics(), next, closing_text()});
}

/// Records wait at most this long for a CPU that is in an access.
void Recording::settle() {
    using namespace std::chrono_literals;
    const auto patience = std::chrono::steady_clock::now() + 1s;
    do {
        while (pass() > 0) {
        }
        if (rings_.settled()) {
            return;
        }
        std::this_thread::sleep_for(1ms);
    } while (std::chrono::steady_clock::now() < patience);
    rings_.flush(ordered_);
    deliver();
}

std::string Recording::closing_text() const {
    return trace::lines_of(rings_.unfinished()) + fmt::format("left-out={}\n", left_out_.count());
}

std::string Recording::verdict() const {
    const std::string damaged =
        rings_.damaged() > 0 ? fmt::format("{} records were damaged in the ring", rings_.damaged())
                             : output_.doubt();
    const std::string left_out =
        left_out_.count() > 0 ? fmt::format("left out: {} records\n", left_out_.count()) : "";
    return left_out + summary_.policies().line(area_.header().policy) + "\n" +
           trace::verdict(summary_, losses_.losses(), damaged, std::nullopt);
}

} // namespace mmioscope::guest
