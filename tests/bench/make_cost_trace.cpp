// make-cost-trace MIX EVENTS FILE [packed]: writes a made-up trace (made_trace.hpp) to a file.
#include "file/packing.hpp"
#include "made_trace.hpp"
#include "system/error.hpp"
#include "system/file_descriptor.hpp"

#include <cstdlib>
#include <string_view>

using namespace mmioscope;

int main(int count, char** arguments) {
    const bool packed = count == 5 && std::string_view(arguments[4]) == "packed";
    const auto mix = count == 4 || packed ? bench::mix_of(arguments[1]) : std::nullopt;
    if (!mix) {
        fmt::print(stderr, "usage: make-cost-trace boot|sd|fresh EVENTS FILE [packed]\n");
        return 2;
    }
    try {
        const FileDescriptor file = create_output(arguments[3]);
        bench::write_trace(file.get(), *mix, std::strtoull(arguments[2], nullptr, 10));
        if (packed) {
            trace::pack_file(arguments[3], file.get(),
                             [](std::uint64_t, std::uint64_t) { return true; });
        }
    } catch (const Error& error) {
        fmt::print(stderr, "make-cost-trace: {}\n", error.what());
        return static_cast<int>(error.status());
    }
}
