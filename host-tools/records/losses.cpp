#include "records/losses.hpp"

#include <fmt/format.h>

namespace mmioscope::trace {

void StepsBack::add(unsigned of_cpu, std::uint64_t before, std::uint64_t now, std::uint64_t times) {
    if (count == 0) {
        cpu = of_cpu;
        from = before;
        to = now;
    }
    count += times;
}

// What goes back leaves the number that is expected next: it is of what was there before.
void Backward::look(const Run& run, Cpu& cpu) {
    const abi::Record& first = *run.first;
    if (!keeps_time(first)) {
        cpu.other_time = run.last->time;
    } else if (first.time < cpu.time && cpu.time != cpu.other_time) {
        times_.add(first.cpu, cpu.time, first.time);
    }
    cpu.time = run.last->time;
    const bool begun = cpu.known || cpu.next != 0;
    cpu.known = true;
    const bool is_gap = first.type == abi::RecordType::gap; // may tell late of what was lost early
    if (begun && !is_gap && goes_back(first.cpu_sequence, cpu.next)) {
        const std::uint64_t behind = cpu.next - first.cpu_sequence;
        numbers_.add(first.cpu, cpu.next - 1, first.cpu_sequence,
                     std::min<std::uint64_t>(behind, run.count));
    }
    const std::uint32_t after = is_gap
                                    ? first.cpu_sequence + static_cast<std::uint32_t>(first.value)
                                    : run.last->cpu_sequence + 1;
    cpu.next = begun && goes_back(after, cpu.next) ? cpu.next : after;
}

std::string Backward::numbers_back() const {
    return numbers_.count == 0
               ? ""
               : fmt::format(
                     "{} records go back in their CPU's numbers, first those of cpu {} from "
                     "{} to {}: they are there twice, or in a wrong order",
                     numbers_.count, numbers_.cpu, numbers_.from, numbers_.to);
}

std::string times_back(const StepsBack& steps) {
    return steps.count == 0 ? ""
                            : fmt::format("the times of a CPU's accesses go back, first those of "
                                          "cpu {} from tick {} to {}",
                                          steps.cpu, steps.from, steps.to);
}

std::string text_of(const Lost& lost) {
    if (lost.records > 0 && !lost.others) {
        return fmt::format("{} records lost", lost.records);
    }
    const std::uint64_t others = lost.others.value_or(0);
    return fmt::format(
        "{} lost{}", lost.events(),
        others == 0 ? "" : fmt::format(", {} other record{} lost", others, others == 1 ? "" : "s"));
}

// For a record that is not the next one of its CPU, or is no access.
void LossCounter::add_behind(const abi::Record& record) {
    if (record.cpu >= cpus_.size()) {
        cpus_.resize(record.cpu + 1u);
    }
    Cpu& cpu = cpus_[record.cpu];
    if ((cpu.known || cpu.next != 0) && goes_back(record.cpu_sequence, cpu.next)) {
        return; // nothing is missing before what was there before
    }
    cpu.known = true;
    const Hole hole = hole_at(cpu.next, record);
    if (hole.in_front > 0) {
        join(record.cpu, hole.first, hole.in_front, record.time);
    }
    cpu.last_time = record.time;
    if (record.type != abi::RecordType::gap) {
        cpu.others += record.type != abi::RecordType::access ? 1 : 0;
    } else if (hole.announced > 0) {
        join(record.cpu, record.cpu_sequence, hole.announced, record.time);
        cpu.announced = add_lost(cpu.announced, hole.announced);
    }
}

void LossCounter::finish(unsigned cpu, std::uint64_t lost) {
    Cpu& last = cpus_.at(cpu);
    if (lost > last.announced) {
        last.at_end = static_cast<std::uint32_t>(lost - last.announced);
        note(cpu, last.next, lost - last.announced, last.last_time);
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

void LossCounter::set_others(unsigned cpu, std::uint32_t sequence, std::uint32_t others) {
    cpus_.at(cpu).stated = {sequence, others};
}

Lost LossCounter::all_lost() const {
    Lost all{lost_, 0};
    for (const Cpu& cpu : cpus_) {
        if (cpu.lost == 0 || only_events_) {
            continue;
        }
        const std::uint32_t others = cpu.stated ? cpu.stated->second - cpu.others : 0;
        const bool known = cpu.stated && cpu.stated->first == cpu.next + cpu.at_end &&
                           others <= cpu.lost && cpu.lost <= UINT32_MAX;
        all.others = known && all.others ? std::optional(*all.others + others) : std::nullopt;
    }
    return all;
}

std::vector<abi::Loss> LossCounter::losses_since(std::span<const abi::Loss> before) const {
    std::vector<abi::Loss> since;
    for (std::size_t i = 0; i < before.size(); ++i) {
        abi::Loss more = losses_[i];
        more.first_sequence += static_cast<std::uint32_t>(before[i].count);
        more.count -= before[i].count;
        if (more.count > 0) {
            since.push_back(more);
        }
    }
    since.insert(since.end(), losses_.begin() + static_cast<std::ptrdiff_t>(before.size()),
                 losses_.end());
    return since;
}

// Holes and gaps side by side form one run. Losses after the last record stay a separate run,
// because no record shows them.
void LossCounter::join(unsigned cpu, std::uint32_t first, std::uint64_t count, std::uint64_t time) {
    const std::optional<std::size_t> at = cpus_[cpu].last_loss;
    const bool goes_on =
        at && losses_[*at].first_sequence + static_cast<std::uint32_t>(losses_[*at].count) == first;
    if (goes_on) {
        add_to(losses_[*at], count);
    } else {
        note(cpu, first, count, time);
    }
}

void LossCounter::note(unsigned cpu, std::uint32_t first, std::uint64_t count, std::uint64_t time) {
    std::optional<std::size_t>& last = cpus_[cpu].last_loss;
    if (last && losses_.size() >= most_losses) {
        add_to(losses_[*last], count);
        return;
    }
    last = losses_.size();
    losses_.push_back({cpu, first, 0, time});
    add_to(losses_.back(), count);
}

void LossCounter::add_to(abi::Loss& loss, std::uint64_t count) {
    lost_ = add_lost(lost_, count);
    loss.count = add_lost(loss.count, count);
    cpus_[loss.cpu].lost = add_lost(cpus_[loss.cpu].lost, count);
}

} // namespace mmioscope::trace
