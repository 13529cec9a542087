// Names the code behind a trace's accesses, for tests:
//   named-code TRACE [FILE...]   prints lines of `accesses function [module] < caller [module]`,
//   then
//                                the number of named ones; by the trace's own symbols, or by the
//                                files' (see --symbols)
//   named-code --list TRACE      prints the trace's own symbols like /proc/kallsyms, after its
//   banner
//   named-code --address KERNEL NAME   prints the address of a kernel image's symbol
//   named-code --functions KERNEL      prints the names of a kernel image's functions
#include "abi/record.hpp"
#include "reading/trace.hpp"
#include "symbol_text.hpp"
#include "symbols/kernel_image.hpp"
#include "symbols/section.hpp"
#include "symbols/symbols.hpp"
#include "system/error.hpp"

#include <fstream>
#include <map>

using namespace mmioscope;

namespace {

std::string name(const Location* location) {
    if (location == nullptr) {
        return "-";
    }
    return location->module.empty() ? location->function
                                    : fmt::format("{} [{}]", location->function, location->module);
}

reading::Trace open(const std::string& path, std::vector<std::string> files) {
    reading::TraceOptions options;
    options.path = path;
    options.symbols = std::move(files);
    return reading::Trace(options);
}

void list(const std::string& path) {
    const reading::Trace trace = open(path, {});
    const auto& text = trace.reader().text();
    const auto banner = text.find("kernel.banner");
    fmt::print("{}\n{}", banner == text.end() ? "no banner" : banner->second,
               test::kallsyms_text(symbols::unpack(*trace.reader().symbols())));
}

symbols::SymbolList symbols_of(const std::string& kernel) {
    std::ifstream file(kernel, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    return symbols::read_kernel_image(std::as_bytes(std::span(bytes))).symbols;
}

void print_address(const std::string& path, const std::string& name) {
    for (const auto& symbol : symbols_of(path)) {
        if (symbol.name == name) {
            fmt::print("{:#x}\n", symbol.address);
            return;
        }
    }
    throw bad_input("{} has no {}", path, name);
}

void print_functions(const std::string& path) {
    for (const auto& symbol : symbols_of(path)) {
        if (symbols::is_function(symbol)) {
            fmt::print("{}\n", symbol.name);
        }
    }
}

void count(const std::string& path, std::vector<std::string> files) {
    reading::Trace trace = open(path, std::move(files));
    std::map<std::string, std::uint64_t> functions;
    std::uint64_t all = 0;
    std::uint64_t named = 0;
    while (const Event* event = trace.next()) {
        if (event->record.type == abi::RecordType::access) {
            ++functions[name(event->code()) + " < " + name(event->caller())];
            ++all;
            named += event->code() != nullptr && !event->code()->function.empty() ? 1 : 0;
        }
    }
    for (const auto& [function, accesses] : functions) {
        fmt::print("{} {}\n", accesses, function);
    }
    fmt::print("named: {} of {} accesses\n", named, all);
}

} // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> words(argv + 1, argv + argc);
    if (words.empty()) {
        return 2;
    }
    try {
        if (words[0] == "--list") {
            list(words.at(1));
        } else if (words[0] == "--address") {
            print_address(words.at(1), words.at(2));
        } else if (words[0] == "--functions") {
            print_functions(words.at(1));
        } else {
            count(words[0], {words.begin() + 1, words.end()});
        }
    } catch (const Error& error) {
        fmt::print(stderr, "named-code: {}\n", error.what());
        return static_cast<int>(error.status());
    }
    return 0;
}
