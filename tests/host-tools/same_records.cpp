// same-records A B: whether two trace files hold the same records, bit by bit and in the same
// order. Exit status 0 if they do.
#include "lib/error.hpp"
#include "lib/file_descriptor.hpp"
#include "lib/trace_reader.hpp"

#include <cstdio>
#include <cstring>
#include <vector>

using namespace mmioscope;

namespace {

std::vector<abi::Record> read_records(const char* path) {
    const FileDescriptor file = open_input(path);
    trace::FileSource source(file.get());
    trace::TraceReader reader(source, [](const std::string& what) { fmt::print("{}\n", what); });
    std::vector<abi::Record> all;
    for (std::span<const abi::Record> block = reader.next(); !block.empty();
         block = reader.next()) {
        all.insert(all.end(), block.begin(), block.end());
    }
    return all;
}

} // namespace

int main(int count, char** arguments) {
    if (count != 3) {
        fmt::print(stderr, "usage: same-records A B\n");
        return 2;
    }
    const std::vector<abi::Record> a = read_records(arguments[1]);
    const std::vector<abi::Record> b = read_records(arguments[2]);
    std::size_t different = a.size() > b.size() ? a.size() - b.size() : b.size() - a.size();
    std::size_t first = std::min(a.size(), b.size());
    for (std::size_t i = std::min(a.size(), b.size()); i-- > 0;) {
        if (std::memcmp(&a[i], &b[i], sizeof a[i]) != 0) {
            ++different;
            first = i;
        }
    }
    fmt::print("{} and {} records, {} different", a.size(), b.size(), different);
    fmt::print("{}\n", different > 0 ? fmt::format(", from record {} on", first) : "");
    return different > 0 || a.empty() ? 1 : 0;
}
