// same-records A B: checks that two trace files have the same records, bit by bit and in the same
// order. Ignores what one of them has after a store that turned the machine off, since the machine
// lives on for a moment. Exit status 0 if they have. same-records --part A B: checks that all of A
// is in B, consecutively.
#include "file/trace_reader.hpp"
#include "system/error.hpp"
#include "system/file_descriptor.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

using namespace mmioscope;

namespace {

std::vector<abi::Record> read_records(const char* path) {
    const FileDescriptor file = open_input(path);
    FileSource source(file.get());
    trace::TraceReader reader(source, [](const std::string& what) { fmt::print("{}\n", what); });
    std::vector<abi::Record> all;
    for (std::span<const abi::Record> block = reader.next(); !block.empty();
         block = reader.next()) {
        all.insert(all.end(), block.begin(), block.end());
    }
    return all;
}

// The part of `whole` to compare with `part`: from the first record of `part` on.
std::vector<abi::Record> piece_of(const std::vector<abi::Record>& whole,
                                  const std::vector<abi::Record>& part) {
    const auto is_first = [&part](const abi::Record& r) {
        return r.cpu == part.front().cpu && r.cpu_sequence == part.front().cpu_sequence;
    };
    const auto first =
        part.empty() ? whole.end() : std::find_if(whole.begin(), whole.end(), is_first);
    const auto left = static_cast<std::size_t>(whole.end() - first);
    return {first, first + static_cast<std::ptrdiff_t>(std::min(left, part.size()))};
}

/// Whether one of the last records is the store that turned the machine off (abi::flag_early).
bool turned_off(const std::vector<abi::Record>& records) {
    const auto last = records.end() - std::min<std::ptrdiff_t>(std::ssize(records), 16);
    return std::any_of(last, records.end(),
                       [](const abi::Record& r) { return (r.flags & abi::flag_early) != 0; });
}

} // namespace

int main(int count, char** arguments) {
    const bool part = count == 4 && std::string_view(arguments[1]) == "--part";
    if (count != 3 && !part) {
        fmt::print(stderr, "usage: same-records [--part] A B\n");
        return 2;
    }
    std::vector<abi::Record> a = read_records(arguments[count - 2]);
    std::vector<abi::Record> b = read_records(arguments[count - 1]);
    if (part) {
        b = piece_of(b, a);
    } else if (turned_off(a.size() < b.size() ? a : b)) {
        const std::size_t both = std::min(a.size(), b.size());
        a.resize(both);
        b.resize(both);
    }
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
