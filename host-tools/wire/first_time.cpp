#include "wire/first_time.hpp"

#include "records/losses.hpp"

namespace mmioscope::wire {

void FirstTime::keep_new(std::vector<abi::Record>& records, bool late) {
    std::erase_if(records, [this, late](const abi::Record& record) {
        Cpu& cpu = cpus_[record.cpu];
        if (cpu.has_passed(record.cpu_sequence) || (late && !cpu.any)) {
            return true;
        }
        cpu.any = true;
        trace::hole_at(cpu.next, record);
        return false;
    });
}

bool FirstTime::pass(const abi::EndHeader& end) {
    for (unsigned cpu = 0; cpu < end.cpu_count; ++cpu) {
        if (cpus_[cpu].has_passed(end.next_sequence[cpu])) {
            return false;
        }
    }
    for (unsigned cpu = 0; cpu < end.cpu_count; ++cpu) {
        cpus_[cpu] = {true, end.next_sequence[cpu]};
    }
    return true;
}

} // namespace mmioscope::wire
