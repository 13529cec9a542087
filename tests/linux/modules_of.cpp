// Prints a trace's final modules like /proc/modules, their functions, and the accesses from them:
// lines "module NAME SIZE BASE", "ADDRESS FUNCTION [NAME]", "COUNT DEVICE FUNCTION [NAME]".
#include "reading/trace.hpp"
#include "system/error.hpp"

#include <fmt/format.h>

#include <map>

int main(int argc, char** argv) {
    using namespace mmioscope;
    if (argc != 2) {
        fmt::print(stderr, "usage: modules-of TRACE\n");
        return 2;
    }
    try {
        reading::TraceOptions options;
        options.path = argv[1];
        reading::Trace trace(options);
        std::map<std::string, std::uint64_t> counts;
        while (const Event* event = trace.next()) {
            const abi::Record& record = event->record;
            const auto code = trace.reader().modules().function_at(record.pc, record.time);
            if (code) {
                ++counts[fmt::format("{} {} [{}]", event->device(), code->function, code->module)];
            } else if (record.pc >= 0xbf00'0000 && record.pc < 0xbfe0'0000) {
                ++counts[fmt::format("{} unknown {:08x} []", event->device(), record.pc)];
            }
        }
        std::map<std::string, const trace::LoadedModule*> last;
        for (const auto& module : trace.reader().modules().modules()) {
            last[module->name] = module.get();
        }
        for (const auto& [name, pointer] : last) {
            const trace::LoadedModule& module = *pointer;
            fmt::print("{} {} {} {:08x}\n", module.live ? "module" : "loading", module.name,
                       module.size, module.base);
            for (const auto& function : module.functions) {
                fmt::print("{:08x} {} [{}]\n", function.address, module.name_of(function),
                           module.name);
            }
        }
        for (const auto& [what, count] : counts) {
            fmt::print("{} {}\n", count, what);
        }
        return 0;
    } catch (const Error& error) {
        fmt::print(stderr, "modules-of: {}\n", error.what());
        return static_cast<int>(error.status());
    }
}
