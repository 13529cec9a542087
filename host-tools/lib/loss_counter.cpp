#include "lib/loss_counter.hpp"

namespace mmioscope::trace {

void LossCounter::add(const abi::Record& record) {
    if (record.cpu >= cpus_.size()) {
        cpus_.resize(record.cpu + 1u);
    }
    Cpu& cpu = cpus_[record.cpu];
    const std::uint32_t hole = record.cpu_sequence - cpu.next;
    if (hole != 0 && static_cast<std::int32_t>(hole) > 0) {
        note(record.cpu, cpu.next, hole, record.time);
    }
    cpu.next = record.cpu_sequence + 1;
    cpu.last_time = record.time;
    if (record.type == abi::RecordType::gap) {
        // A gap record stands in the place of the first one that it tells of.
        note(record.cpu, record.cpu_sequence, record.value, record.time);
        cpu.next = record.cpu_sequence + static_cast<std::uint32_t>(record.value);
        cpu.told += record.value;
    }
}

void LossCounter::finish(unsigned cpu, std::uint64_t lost) {
    const Cpu& last = cpus_.at(cpu);
    if (lost > last.told) {
        note(cpu, last.next, lost - last.told, last.last_time);
    }
}

void LossCounter::finish_at(unsigned cpu, std::uint32_t sequence) {
    Cpu& last = cpus_.at(cpu);
    const std::uint32_t missing = sequence - last.next;
    if (static_cast<std::int32_t>(missing) > 0) {
        note(cpu, last.next, missing, last.last_time);
        last.next = sequence;
    }
}

// One run of missing records may come in several pieces: holes and gaps side by side.
void LossCounter::note(unsigned cpu, std::uint32_t first, std::uint64_t count, std::uint64_t time) {
    lost_ += count;
    losses_.push_back({cpu, first, count, time});
}

} // namespace mmioscope::trace
