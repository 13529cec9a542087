// The guest's RAM is input: with any content, even if it changes between two reads, the search for
// a kernel, its tasks, its modules and the callers of its functions must end, and read nothing
// else.
#include "linux/caller_finder.hpp"
#include "linux/task_layout.hpp"
#include "records/module_table.hpp"

#include "host-tools/fake_modules.hpp"
#include "host-tools/task_runs.hpp"

#include <span>

using namespace mmioscope;
using namespace mmioscope::linux_guest;
using mmioscope::test::FakeKernel;
using mmioscope::test::FakeModules;

namespace {

FakeKernel sound(bool in_parts) {
    FakeModules modules(in_parts);
    modules.load(1, "first");
    modules.load(2, "second");
    return modules.kernel;
}

// Seven bytes each: a word, and its place among tables, tasks, and modules.
void put(std::span<std::byte> ram, std::span<const std::uint8_t> data) {
    static constexpr std::uint32_t places[] = {0, 0x2'0000, 0x10'0000, 0x30'0000};
    for (; data.size() >= 7; data = data.subspan(7)) {
        const std::uint32_t place = places[data[0] & 3] + (data[1] | data[2] << 8) % 0x4000 * 4;
        std::memcpy(&ram[place], &data[3], 4);
    }
}

std::vector<abi::Record> records_of(std::span<const std::uint8_t> data, std::uint64_t time) {
    std::vector<abi::Record> records(8);
    const auto byte = [&](std::size_t i) { return data[i % data.size()]; };
    for (std::size_t i = 0; i < records.size(); ++i) {
        records[i].time = time + i * 100;
        records[i].mode = i % 2 == 0 ? 0x10 : 0x13;
        records[i].pc = FakeKernel::modules + byte(i) * 4;
        records[i].lr = FakeKernel::modules + byte(i + 1) * 4;
        records[i].sp = FakeKernel::linear + 0x10'0000 + byte(i + 2) * 4;
        records[i].cpu_sequence = static_cast<std::uint32_t>(time + i);
        records[i].task =
            FakeKernel::linear + (i < 4 ? 0x10'0000 : 0x2'0000) + byte(i) * FakeKernel::task_size;
    }
    return records;
}

struct Watches {
    explicit Watches(const Kernel& kernel)
        : tasks(kernel, 1000), modules(kernel), callers(kernel, functions, modules) {}

    void see(std::span<const abi::Record> records, unsigned second) {
        std::vector<trace::TaskEntry> entries;
        const std::vector<trace::Run> runs = test::task_runs(records);
        tasks.see(runs, entries);
        const ModuleWatch::Clock::time_point now{std::chrono::seconds(second)};
        modules.look_around(records.front().time, now);
        const auto found = callers.see(runs, now);
        const std::string text = modules.take_news();
        if (!found.empty() && found.size() != records.size()) {
            std::abort();
        }
        trace::ModuleTable table;
        table.add(std::as_bytes(std::span(text)));
        table.function_at(FakeKernel::modules, second);
    }

    TaskWatch tasks;
    ModuleWatch modules;
    // One function fills all of the modules' first part; the words put there are its code.
    symbols::FunctionTable functions{{{FakeKernel::modules, 't', "all", ""}}};
    CallerFinder callers;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    if (size < 8) {
        return 0;
    }
    const std::span<const std::uint8_t> data(bytes + 1, size - 1);
    // A kernel into which words are put: a random image would not get as far.
    static const FakeKernel kernels[2] = {sound(false), sound(true)};
    static std::vector<std::byte> ram;
    ram = kernels[bytes[0] & 1].bytes;
    const PhysicalMemory memory(ram, FakeKernel::ram);
    const std::optional<Kernel> kernel = KernelFinder(memory).find();
    if (!kernel) {
        __builtin_trap();
    }
    Watches watches(*kernel);
    const std::size_t half = data.size() / 14 * 7;
    put(ram, data.first(half));
    watches.see(records_of(data, 0), 1);
    put(ram, data.subspan(half));
    KernelFinder(memory).find();
    watches.see(records_of(data, 1000), 2);
    return 0;
}
