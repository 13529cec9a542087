#include "records/backward.hpp"

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

} // namespace mmioscope::trace
