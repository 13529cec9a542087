#include "rings/ordered_rings.hpp"

#include <algorithm>

namespace mmioscope::rings {

OrderedRings::OrderedRings(const Area& area, unsigned reader) : merge_(area.header().cpu_count) {
    for (const Ring& ring : area.rings()) {
        rings_.emplace_back(ring, area.header().policy, reader);
        missed_ = std::max(missed_, rings_.back().time_before());
    }
}

// The bound of a CPU follows from its in-flight slot, which must be read before its head:
//   none       everything begun is below the head, and what begins now is later than all that any
//              CPU had published before, that is, than all of the earlier passes
//   begun      the next record has that time
//   beginning  the time is unknown yet: only the CPU's last record bounds it (Merge::push)
std::size_t OrderedRings::pass(std::vector<abi::Record>& ordered) {
    std::size_t count = 0;
    std::uint64_t latest = latest_;
    for (unsigned cpu = 0; cpu < rings_.size(); ++cpu) {
        const InFlightAccess access = rings_[cpu].in_flight();
        taken_.clear();
        damaged_ += rings_[cpu].drain(taken_);
        count += taken_.size();
        if (missed_ > 0) {
            std::erase_if(taken_, [this](const abi::Record& r) { return r.time <= missed_; });
        }
        latest = taken_.empty() ? latest : std::max(latest, taken_.back().time);
        merge_.push(cpu, std::move(taken_));
        if (access.state == abi::InFlight::none) {
            merge_.set_bound(cpu, latest_, true);
        } else if (abi::has_begun(access.state)) {
            merge_.set_bound(cpu, access.time, false);
        }
    }
    latest_ = latest;
    merge_.emit(ordered);
    return count;
}

void OrderedRings::stop() {
    for (RingReader& ring : rings_) {
        ring.stop();
    }
}

void OrderedRings::leave() {
    for (RingReader& ring : rings_) {
        ring.leave();
    }
}

std::vector<trace::UnfinishedAccess> OrderedRings::unfinished() const {
    std::vector<trace::UnfinishedAccess> accesses;
    for (unsigned cpu = 0; cpu < rings_.size(); ++cpu) {
        const InFlightAccess access = rings_[cpu].in_flight();
        if (abi::has_begun(access.state)) {
            accesses.push_back({cpu, access.pc, access.pa, access.time});
        }
    }
    return accesses;
}

} // namespace mmioscope::rings
