// Compares the callers in a trace with the calls that QEMU carried out (tests/qemu/call_log.c).
// Prints differences, then lines "COUNT FUNCTION < CALLER", with "-" if the trace has no caller;
// last the number of accesses from the kernel's code with a caller, of those that could be
// compared, and of differences. Accesses before the first one with a caller found by the recorder
// are counted separately: before the kernel has tasks nothing is looked up, and LR is shown.
//
// With --stacks all callers of each access, and of each call of a probed function, are compared
// instead, as far as both have them.
//
// With --frames it prints for each call of a probed function its time in ns, CPU, address, and the
// return addresses on its stack.
#include "reading/trace.hpp"
#include "records/callers.hpp"
#include "system/error.hpp"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <map>
#include <sstream>
#include <vector>

using namespace mmioscope;

namespace {

struct Access {
    char direction;
    std::uint64_t address;
    std::uint32_t pc, entry, back;
    std::vector<std::uint32_t> chain; ///< return addresses, the innermost first
};

/// Each CPU's accesses, in order.
std::array<std::vector<Access>, 8> read_log(const std::string& path) {
    std::array<std::vector<Access>, 8> cpus;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        unsigned cpu = 0;
        Access access{};
        words >> cpu >> access.direction >> std::hex >> access.address >> access.pc >>
            access.entry >> access.back;
        if (!words || cpu >= cpus.size()) {
            throw bad_input("{}: no access: {}", path, line);
        }
        for (std::uint32_t back = 0; words >> back;) {
            access.chain.push_back(back);
        }
        cpus[cpu].push_back(std::move(access));
    }
    return cpus;
}

std::string name(const Location* location) {
    return location == nullptr ? "-" : location->function;
}

/// The access of `record`, from `next` on; null if the log does not have it.
const Access* find(const std::vector<Access>& log, std::size_t& next, const abi::Record& record) {
    const bool call = record.type == abi::RecordType::call;
    const char direction = call ? 'C' : abi::is_write(record) ? 'W' : 'R';
    const std::uint64_t address = call ? 0 : abi::physical_address(record);
    for (std::size_t at = next; at < log.size(); ++at) {
        if (log[at].pc == record.pc && log[at].address == address &&
            log[at].direction == direction) {
            next = at + 1;
            return &log[at];
        }
    }
    return nullptr;
}

int compare(const std::string& trace_path, const std::string& log_path) {
    reading::TraceOptions options;
    options.path = trace_path;
    reading::Trace trace(options);
    const auto log = read_log(log_path);
    std::array<std::size_t, 8> next{};
    std::map<std::string, std::uint64_t> counts, different;
    std::uint64_t all = 0, known = 0, compared = 0, wrong = 0, missing = 0, early = 0;
    bool looked_up = false;
    while (const Event* event = trace.next()) {
        const abi::Record& record = event->record;
        if (record.type != abi::RecordType::access || !trace::in_kernel(record) ||
            event->code() == nullptr || record.cpu >= log.size()) {
            continue;
        }
        ++all;
        ++counts[name(event->code()) + " < " + name(event->caller())];
        const Access* const access = find(log[record.cpu], next[record.cpu], record);
        missing += access == nullptr;
        if (event->caller() == nullptr) {
            continue;
        }
        ++known;
        if (access == nullptr || access->entry != record.pc - event->code()->offset) {
            continue;
        }
        ++compared;
        const trace::Caller caller = trace.reader().caller_of(event->number);
        const std::uint32_t back = trace::return_address(record, caller);
        looked_up = looked_up || caller != trace::lr_holds;
        if (back != access->back && !looked_up) {
            ++early;
        } else if (back != access->back) {
            ++wrong;
            ++different[fmt::format("{} < {} {:#x}, not {:#x}", name(event->code()),
                                    name(event->caller()), back, access->back)];
        }
    }
    for (const auto& [what, count] : different) {
        fmt::print("different: {} {}\n", count, what);
    }
    for (const auto& [what, count] : counts) {
        fmt::print("{} {}\n", count, what);
    }
    fmt::print("{} accesses, {} not in the log, {} have a caller, {} compared, {} different, {} "
               "before\n",
               all, missing, known, compared, wrong, early);
    return wrong == 0 ? 0 : 1;
}

/// Prints differences; last the numbers of accesses, of those with a caller, of those with one in a
/// log that knows it, too, of all callers compared, and of accesses that differ.
int compare_stacks(const std::string& trace_path, const std::string& log_path) {
    reading::TraceOptions options;
    options.path = trace_path;
    reading::Trace trace(options);
    const auto log = read_log(log_path);
    std::array<std::size_t, 8> next{};
    std::map<std::string, std::uint64_t> different;
    std::uint64_t all = 0, known = 0, compared = 0, frames = 0, wrong = 0;
    while (const Event* event = trace.next()) {
        const abi::Record& record = event->record;
        const bool call = record.type == abi::RecordType::call;
        if ((record.type != abi::RecordType::access && !call) || !trace::in_kernel(record) ||
            !abi::goes_on(record) || record.cpu >= log.size()) {
            continue;
        }
        ++all;
        known += event->caller() != nullptr;
        const Access* const access = find(log[record.cpu], next[record.cpu], record);
        if (access == nullptr) {
            continue;
        }
        std::size_t equal = 0; // of the log's
        for (const std::uint32_t at : trace.naming().callers_on_stack(record, event->number)) {
            const bool interrupted = at % 2 == 0;
            const std::uint32_t back = at + (interrupted ? 0 : 1);
            if (equal == access->chain.size()) {
                break;
            }
            if (access->chain[equal] == back) {
                ++equal; // where it was interrupted, too, if QEMU has not yet begun what is there
            } else if (!interrupted) {
                ++wrong;
                ++different[fmt::format("{} {:#x}, caller {}: {:#x}, not {:#x}",
                                        name(event->code()), record.pc, equal, back,
                                        access->chain[equal])];
                break;
            }
        }
        compared += equal != 0;
        frames += equal;
    }
    for (const auto& [what, count] : different) {
        fmt::print("different: {} {}\n", count, what);
    }
    fmt::print("{} accesses, {} have a caller, {} compared, {} callers, {} different\n", all, known,
               compared, frames, wrong);
    return wrong == 0 ? 0 : 1;
}

int print_frames(const std::string& trace_path) {
    reading::TraceOptions options;
    options.path = trace_path;
    reading::Trace trace(options);
    const auto& info = trace.reader().info();
    const std::uint32_t frequency = info ? info->counter_frequency : 0;
    while (const Event* event = trace.next()) {
        const abi::Record& record = event->record;
        if (record.type != abi::RecordType::call) {
            continue;
        }
        auto frames = trace.naming().callers_on_stack(record, event->number);
        for (std::uint32_t& at : frames) {
            at += at % 2; // even: interrupted there
        }
        fmt::print("{} {} {:x} {:x}\n", trace::nanoseconds(record.time, frequency), record.cpu,
                   record.pc, fmt::join(frames, " "));
    }
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    const bool stacks = argc == 4 && std::string_view(argv[1]) == "--stacks";
    if (argc != 3 && !stacks) {
        fmt::print(stderr, "usage: callers-of [--stacks] TRACE LOG, or --frames TRACE\n");
        return 2;
    }
    try {
        if (std::string_view(argv[1]) == "--frames") {
            return print_frames(argv[2]);
        }
        return (stacks ? compare_stacks : compare)(argv[argc - 2], argv[argc - 1]);
    } catch (const Error& error) {
        fmt::print(stderr, "callers-of: {}\n", error.what());
        return static_cast<int>(error.status());
    }
}
