// make-cost-trace MIX EVENTS FILE: writes a made-up trace (made_trace.hpp) to a file.
#include "made_trace.hpp"
#include "system/error.hpp"
#include "system/file_descriptor.hpp"

#include <cstdlib>

using namespace mmioscope;

int main(int count, char** arguments) {
    const auto mix = count == 4 ? bench::mix_of(arguments[1]) : std::nullopt;
    if (!mix) {
        fmt::print(stderr, "usage: make-cost-trace boot|sd|fresh EVENTS FILE\n");
        return 2;
    }
    try {
        const FileDescriptor file = create_output(arguments[3]);
        bench::write_trace(file.get(), *mix, std::strtoull(arguments[2], nullptr, 10));
    } catch (const Error& error) {
        fmt::print(stderr, "make-cost-trace: {}\n", error.what());
        return static_cast<int>(error.status());
    }
}
