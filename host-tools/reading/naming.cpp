#include "reading/naming.hpp"

#include "lib/change_text.hpp"
#include "lib/marker_text.hpp"
#include "lib/record_text.hpp"

#include <algorithm>

namespace mmioscope::reading {

namespace {

std::string words_of(const abi::Record& record) {
    switch (record.type) {
    case abi::RecordType::marker: return trace::marker_text(record);
    case abi::RecordType::configuration: return trace::change_text(record);
    case abi::RecordType::fault: return std::string(trace::fault_text(record.value));
    default: return {};
    }
}

} // namespace

Event Naming::event(const abi::Record& record) {
    if (!started_) {
        start_ = record.time;
        started_ = true;
    }
    text_ = words_of(record);
    Event event;
    event.record = &record;
    event.nanoseconds = nanoseconds(record.time);
    event.device = reader_.names()[record.device];
    event.offset = abi::physical_address(record) - reader_.names().base(record.device);
    event.text = text_;
    return event;
}

// In two parts: the product of a long trace's ticks with 10^9 does not fit 64 bits.
std::uint64_t Naming::nanoseconds(std::uint64_t time) const {
    constexpr std::uint64_t giga = 1'000'000'000;
    const std::uint64_t frequency = reader_.info() ? reader_.info()->counter_frequency : 0;
    const std::uint64_t ticks = time - std::min(time, start_);
    return frequency == 0 ? ticks : ticks / frequency * giga + ticks % frequency * giga / frequency;
}

} // namespace mmioscope::reading
