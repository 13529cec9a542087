// The guest's RAM is input: whatever is in it, looking for a kernel, its tasks, its modules and the
// callers of its functions ends, and reads nothing else.
#include "lib/module_table.hpp"
#include "linux/caller_watch.hpp"
#include "linux/kernel_finder.hpp"
#include "linux/module_watch.hpp"
#include "linux/task_watch.hpp"

#include "host-tools/fake_modules.hpp"

#include <span>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace mmioscope;
    using namespace mmioscope::linux_guest;
    using mmioscope::test::FakeKernel;
    using mmioscope::test::FakeModules;
    if (size < 8) {
        return 0;
    }
    // A kernel into which words are put: a random image would not come as far.
    static const auto sound = [](bool in_parts) {
        FakeModules modules(in_parts);
        modules.load(1, "first");
        modules.load(2, "second");
        return modules.kernel;
    };
    static const FakeKernel kernels[2] = {sound(false), sound(true)};
    static std::vector<std::byte> bytes;
    bytes = kernels[data[0] & 1].bytes;
    const std::optional<Kernel> kernel =
        KernelFinder(PhysicalMemory(bytes, FakeKernel::ram)).find();
    for (std::size_t at = 1; at + 7 <= size; at += 7) {
        // Among tables, tasks, and modules.
        static constexpr std::uint32_t places[] = {0, 0x2'0000, 0x10'0000, 0x30'0000};
        const std::uint32_t place =
            places[data[at] & 3] + (data[at + 1] | data[at + 2] << 8) % 0x4000 * 4;
        std::memcpy(&bytes[place], data + at + 3, 4);
    }
    KernelFinder(PhysicalMemory(bytes, FakeKernel::ram)).find();
    if (!kernel) {
        __builtin_trap();
    }
    TaskWatch tasks(*kernel, 1000);
    ModuleWatch modules(*kernel);
    std::vector<abi::Record> records(8);
    for (std::size_t i = 0; i < records.size(); ++i) {
        records[i].time = i * 100;
        records[i].mode = i % 2 == 0 ? 0x10 : 0x13;
        records[i].pc = FakeKernel::modules + data[i % size] * 4;
        records[i].lr = FakeKernel::modules + data[(i + 1) % size] * 4;
        records[i].sp = FakeKernel::linear + 0x10'0000 + data[(i + 2) % size] * 4;
        records[i].cpu_sequence = static_cast<std::uint32_t>(i);
        records[i].task = FakeKernel::linear + (i < 4 ? 0x10'0000 : 0x2'0000) +
                          data[i % size] * FakeKernel::task_size;
    }
    std::vector<trace::TaskEntry> entries;
    tasks.see(records, entries);
    const std::string text =
        modules.see(records, ModuleWatch::Clock::time_point(std::chrono::seconds(1)));
    // One function is all of the modules' first part, and the words put there are its code.
    const symbols::FunctionTable functions({{FakeKernel::modules, 't', "all", ""}});
    CallerWatch callers(*kernel, functions, modules);
    std::vector<trace::CallerEntry> caller_entries;
    callers.see(records, caller_entries);
    trace::CallerTable caller_table;
    caller_table.assign(std::as_bytes(std::span<const trace::CallerEntry>(caller_entries)));
    for (const abi::Record& record : records) {
        caller_table.of(record);
    }
    trace::ModuleTable table;
    table.add(std::as_bytes(std::span(text)));
    table.function_at(FakeKernel::modules, 1);
    return 0;
}
