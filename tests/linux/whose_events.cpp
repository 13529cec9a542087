// Counts a trace's accesses by device, the guest's mode and task: lines "COUNT DEVICE user|kernel
// PID TGID COMM", with "- - -" if the task is unknown. The last line is the number with a task.
#include "reading/trace.hpp"
#include "system/error.hpp"

#include <fmt/format.h>

#include <map>

int main(int argc, char** argv) {
    using namespace mmioscope;
    if (argc != 2) {
        fmt::print(stderr, "usage: whose-events TRACE\n");
        return 2;
    }
    try {
        reading::TraceOptions options;
        options.path = argv[1];
        reading::Trace trace(options);
        std::map<std::string, std::uint64_t> counts;
        std::uint64_t all = 0, known = 0, behind_first = 0;
        while (const Event* event = trace.next()) {
            if (event->record.type != abi::RecordType::access) {
                continue;
            }
            const bool user = (event->record.mode & 0x1f) == 0x10;
            const Task* task = event->task();
            ++counts[fmt::format("{} {} {}", event->device(), user ? "user" : "kernel",
                                 task != nullptr
                                     ? fmt::format("{} {} {}", task->pid, task->tgid, task->comm)
                                     : "- - -")];
            ++all;
            known += task != nullptr;
            behind_first += known > 0;
        }
        for (const auto& [what, count] : counts) {
            fmt::print("{} {}\n", count, what);
        }
        fmt::print("{} of {} have a task, of {} from the first that has one on\n", known, all,
                   behind_first);
        return 0;
    } catch (const Error& error) {
        fmt::print(stderr, "whose-events: {}\n", error.what());
        return static_cast<int>(error.status());
    }
}
