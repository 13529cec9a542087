#include "analysis/threads.hpp"

#include "records/task_table.hpp"
#include "registers/interrupt_names.hpp"

#include <algorithm>

namespace mmioscope::analysis {

namespace {

constexpr unsigned stack_shift = 13; ///< of Linux's stacks of 8 KiB

} // namespace

bool Threads::follow(const abi::Record& record) {
    std::vector<std::uint16_t>& stack = interrupts_[record.cpu];
    const auto number = static_cast<std::uint16_t>(registers::interrupt_of(record.value));
    if (number >= registers::first_special_interrupt) {
        return false;
    }
    if (!abi::is_write(record)) {
        if (stack.size() < most_nested) {
            stack.push_back(number);
        }
        return true;
    }
    const auto last = std::find(stack.rbegin(), stack.rend(), number);
    if (last != stack.rend()) {
        stack.erase(last.base() - 1, stack.end());
    }
    return false;
}

Thread Threads::with(const Event& event) {
    const bool of_interrupt =
        event.record.type == abi::RecordType::access && event.interrupt_id() != no_id;
    const Thread before = of(event.record);
    if (of_interrupt) {
        follow(event.record);
    }
    return abi::is_write(event.record) ? before : of(event.record);
}

// A task keeps its stack wherever it runs. In User mode SP is the program's own, and `task` lies in
// the stack of the kernel (abi/record.hpp).
Thread Threads::of(const abi::Record& record) const {
    const std::vector<std::uint16_t>& stack = interrupts_[record.cpu];
    if (!stack.empty()) {
        return interrupt | Thread{stack.back()} << 8 | record.cpu;
    }
    return (trace::in_user_mode(record) ? record.task : record.sp) >> stack_shift;
}

} // namespace mmioscope::analysis
