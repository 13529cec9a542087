#include "report/timeline.hpp"

#include "abi/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace mmioscope::report {

void Accesses::add(const Accesses& next) {
    end = std::max(end, next.end);
    ticks += next.ticks;
    reads += next.reads;
    writes += next.writes;
    if (next.longest > longest) {
        longest = next.longest;
        event = next.event;
    }
}

void Timeline::mark(const Event& event, std::string text) {
    if (marks_.size() < most_marks) {
        marks_.push_back({event.nanoseconds, event.number, std::move(text)});
    }
}

void Timeline::add(const Event& event) {
    const abi::Record& record = event.record;
    if (record.type == abi::RecordType::gap) {
        mark(event, fmt::format("{} records of cpu {} lost", record.value, record.cpu));
    } else if (record.type == abi::RecordType::marker && !event.text().empty()) {
        mark(event, std::string(event.text().substr(0, 1024)));
    }
    if (record.type != abi::RecordType::access) {
        return;
    }
    const std::pair key(record.device, record.cpu);
    auto lane = lanes_.find(key);
    if (lane == lanes_.end()) {
        if (lanes_.size() == most_lanes) {
            ++left_out_;
            return;
        }
        lane = lanes_.emplace(key, Lane{std::string(event.device()), record.cpu, {}}).first;
        room_.share(lane->second.buckets);
    }
    const bool writes = abi::is_write(record);
    room_.add(lane->second.buckets,
              {event.nanoseconds, event.nanoseconds, event.number, record.duration, record.duration,
               writes ? 0u : 1u, writes ? 1u : 0u});
}

std::vector<const Timeline::Lane*> Timeline::lanes() const {
    std::vector<const Lane*> lanes;
    for (const auto& [key, lane] : lanes_) {
        lanes.push_back(&lane);
    }
    return lanes;
}

std::vector<std::uint64_t> Timeline::slowest(std::size_t most) const {
    std::vector<std::pair<std::uint32_t, std::uint64_t>> all;
    for (const auto& [key, lane] : lanes_) {
        for (const Accesses& cell : lane.buckets.cells()) {
            all.emplace_back(cell.longest, cell.event);
        }
    }
    const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min(most, all.size()));
    std::partial_sort(all.begin(), end, all.end(), std::greater<>());
    std::vector<std::uint64_t> numbers;
    for (auto at = all.begin(); at != end; ++at) {
        numbers.push_back(at->second);
    }
    return numbers;
}

} // namespace mmioscope::report
