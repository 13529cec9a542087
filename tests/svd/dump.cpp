// Prints every register of SVD files, as the library reads them, for svd.py: one line for each
// register and direction, then one for each of its fields.
// Usage: svd-dump FILE...
#include "registers/description.hpp"
#include "system/error.hpp"
#include "system/file_descriptor.hpp"

#include <fmt/format.h>

#include <map>

using namespace mmioscope;
using namespace mmioscope::registers;

namespace {

void print(const Description& device, const Entry& entry, std::uint64_t start) {
    const Register reg = instance(entry, start);
    for (const bool write : {false, true}) {
        if (!allows(entry.direction, write)) {
            continue;
        }
        fmt::print("{:#x} {}.{} {} {}\n", device.address + start, device.name, reg.name, reg.size,
                   write ? 'w' : 'r');
        for (const Field& field : reg.fields) {
            fmt::print(" {} {} {}", field.low, field.width, field.name);
            std::map<std::uint64_t, std::string> names;
            for (const auto& [value, name] : field.values) {
                names.try_emplace(value, name);
            }
            for (const auto& [value, name] : names) {
                fmt::print(" {:#x}={}", value, name);
            }
            fmt::print("\n");
        }
    }
}

void print_all(const Description& device, const Entry& entry, std::size_t depth,
               std::uint64_t start) {
    if (depth == entry.series.size()) {
        print(device, entry, start);
        return;
    }
    for (std::uint64_t i = 0; i < entry.series[depth].count; ++i) {
        print_all(device, entry, depth + 1, start + i * entry.series[depth].step);
    }
}

} // namespace

int main(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
        try {
            LeftOut left_out;
            const auto devices = read_svd(whole_file(argv[i], "SVD file"), argv[i], left_out);
            fmt::print("file {} {} {}\n", argv[i], left_out.count, left_out.first);
            for (const Description& device : devices) {
                for (const Entry& entry : device.entries) {
                    print_all(device, entry, 0, entry.first.offset);
                }
            }
        } catch (const Error& error) {
            fmt::print("file {} refused {}\n", argv[i], error.what());
        }
    }
}
