#include "export/folded.hpp"

#include "analysis/count.hpp"

namespace mmioscope::exporting {

// The task is the outermost frame: what it does in an interrupt is not told apart.
void Folded::add(const Event& event) {
    if (event.record.type != abi::RecordType::access) {
        return;
    }
    const std::string stack = analysis::folded_stack(event);
    if (stack.empty()) {
        ++without_;
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
