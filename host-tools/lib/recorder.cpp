#include "lib/recorder.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mmioscope::trace {

Recorder::Recorder(const Area& area, FileWriter& file)
    : area_(area), file_(file), merge_(area.header().cpu_count), losses_(area.header().cpu_count) {
    for (const Ring& ring : area.rings()) {
        rings_.emplace_back(ring, area.header().policy);
    }
}

// The bound of a CPU, all from what its in-flight slot said before its head was read:
//   none       what it had begun is below the head, and what it begins now is later than all
//              that any CPU had published before, so than all of the earlier passes
//   begun      the next record has the slot's time
//   beginning  the time is not known yet: only its own last record bounds it (Merge::push)
std::size_t Recorder::pass() {
    std::size_t count = 0;
    std::uint64_t latest = latest_;
    for (unsigned cpu = 0; cpu < rings_.size(); ++cpu) {
        const InFlightAccess access = rings_[cpu].in_flight();
        taken_.clear();
        damaged_ += rings_[cpu].drain(taken_);
        merge_.push(cpu, taken_);
        if (access.state == abi::InFlight::none) {
            merge_.set_bound(cpu, latest_, true);
        } else if (access.state == abi::InFlight::begun) {
            merge_.set_bound(cpu, access.time, false);
        }
        count += taken_.size();
        latest = taken_.empty() ? latest : std::max(latest, taken_.back().time);
    }
    latest_ = latest;
    merge_.emit(ordered_);
    deliver();
    return count;
}

void Recorder::finish(abi::Ending ending) {
    while (pass() > 0) {
    }
    merge_.flush(ordered_);
    deliver();
    for (unsigned cpu = 0; cpu < rings_.size(); ++cpu) {
        // In flight mode the writer overwrites what has been read, too: holes tell the losses.
        if (area_.header().policy != abi::Policy::flight) {
            losses_.finish(cpu, rings_[cpu].lost());
        }
    }
    file_.flush();
    file_.values(abi::SectionType::losses, std::span<const abi::Loss>(losses_.losses()));
    const std::vector<abi::Statistics> statistics = area_.statistics();
    file_.values(abi::SectionType::statistics, std::span<const abi::Statistics>(statistics));
    file_.text(unfinished());
    file_.finish(losses_.lost(), ending);
}

void Recorder::deliver() {
    for (const abi::Record& record : ordered_) {
        losses_.add(record);
    }
    summary_.add(ordered_);
    file_.append(ordered_);
    ordered_.clear();
}

// Accesses that had begun when the machine stopped, and have no record.
std::string Recorder::unfinished() const {
    std::string lines;
    for (unsigned cpu = 0; cpu < rings_.size(); ++cpu) {
        const InFlightAccess access = rings_[cpu].in_flight();
        if (access.state == abi::InFlight::begun) {
            lines += fmt::format("in-flight.cpu{}=pa {:#x} pc {:#x} time {}\n", cpu, access.pa,
                                 access.pc, access.time);
        }
    }
    return lines;
}

} // namespace mmioscope::trace
