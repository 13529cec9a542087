#include "export/folded.hpp"

#include "analysis/count.hpp"

namespace mmioscope::exporting {

// The task is the outermost frame: what it does in an interrupt is not told apart.
void Folded::add(const Event& event) {
    const bool access = event.record.type == abi::RecordType::access;
    const std::string stack = access || event.record.type == abi::RecordType::call
                                  ? analysis::folded_stack(event)
                                  : std::string();
    if (stack.empty()) {
        without_ += access ? 1 : 0;
        return;
    }
    const Task* const task = event.task();
    ++counts_.of((task != nullptr ? task->comm + ';' : "") + stack);
}

void Folded::finish() {
    for (const auto& [stack, count] : counts_.held()) {
        fmt::format_to(std::back_inserter(sink_.text()), "{} {}\n", stack, count);
        sink_.settle();
    }
    sink_.flush();
}

std::vector<std::string> Folded::left_out() const {
    std::vector<std::string> lines;
    if (without_ > 0) {
        lines.push_back(fmt::format("{} accesses have no stack, and are left out", without_));
    }
    add_left_out(lines, counts_.rest(), "accesses of stacks", most);
    return lines;
}

} // namespace mmioscope::exporting
