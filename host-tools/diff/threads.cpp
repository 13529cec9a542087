#include "diff/threads.hpp"

#include "records/task_table.hpp"
#include "registers/interrupt_names.hpp"

#include <algorithm>

namespace mmioscope::diff {

namespace {

constexpr unsigned stack_shift = 13; ///< of Linux's stacks of 8 KiB

} // namespace

void Threads::follow(const abi::Record& record) {
    std::vector<std::uint16_t>& stack = interrupts_[record.cpu];
    const auto number = static_cast<std::uint16_t>(registers::interrupt_of(record.value));
    if (number >= registers::first_special_interrupt) {
        return;
    }
    if (!abi::is_write(record)) {
        if (stack.size() < most_nested) {
            stack.push_back(number);
        }
        return;
    }
    const auto last = std::find(stack.rbegin(), stack.rend(), number);
    if (last != stack.rend()) {
        stack.erase(last.base() - 1, stack.end());
    }
}

// A task keeps its stack wherever it runs. In User mode SP is the program's own, and `task` lies in
// the stack of the kernel (abi/record.hpp).
std::uint64_t Threads::thread_of(const abi::Record& record) const {
    const std::vector<std::uint16_t>& stack = interrupts_[record.cpu];
    const std::uint64_t device = std::uint64_t{record.device} << 32;
    if (!stack.empty()) {
        return std::uint64_t{1} << 63 | device | std::uint64_t{stack.back()} << 8 | record.cpu;
    }
    return device | (trace::in_user_mode(record) ? record.task : record.sp) >> stack_shift;
}

std::optional<Token> Threads::next(const abi::Record& record, Token token) {
    if (last_.size() == most_threads) {
        last_.clear();
    }
    const auto [at, added] = last_.try_emplace(thread_of(record), token);
    if (added || at->second == token) {
        return std::nullopt;
    }
    return std::exchange(at->second, token);
}

} // namespace mmioscope::diff
