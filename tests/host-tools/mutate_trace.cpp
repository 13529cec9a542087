// Changes one record of a trace file, so that a test can show that `mmioscope verify` reports
// exactly that.
//
//   mutate-trace drop  N IN OUT   leaves out the first access from record N on
//   mutate-trace alter N IN OUT   changes a bit of the value of the first access from N on
//   mutate-trace pc    N IN OUT   changes a bit of the PC of the first access from N on that the
//                                 guest made itself
//   mutate-trace swap  N IN OUT   exchanges the contents of two accesses: the first two from N on
//   that
//                                 are adjacent, of one device and CPU, and different; no other CPU
//                                 has accesses close by, which the swap would put out of order, too
#include "file/file_writer.hpp"
#include "file/trace_reader.hpp"
#include "system/byte_source.hpp"
#include "system/error.hpp"
#include "system/file_descriptor.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

using namespace mmioscope;

namespace {

using Records = std::vector<abi::Record>;

bool plain(const abi::Record& record) {
    constexpr unsigned special =
        abi::flag_value_unknown | abi::flag_early | abi::flag_same_instruction | abi::flag_boot;
    return record.type == abi::RecordType::access && (record.flags & special) == 0;
}

bool stepped(const abi::Record& record) {
    return plain(record) && (record.access & abi::access_emulated) == 0;
}

std::size_t first(bool (*wanted)(const abi::Record&), const Records& records, std::size_t from) {
    while (from < records.size() && !wanted(records[from])) {
        ++from;
    }
    if (from == records.size()) {
        throw bad_input("no access there");
    }
    return from;
}

// Keeps time and numbers, so only the log can show it.
bool swap_contents(abi::Record& a, abi::Record& b) {
    const bool differ = a.access != b.access || a.value != b.value || a.pa_low != b.pa_low;
    if (!plain(a) || !plain(b) || a.device != b.device || a.cpu != b.cpu || !differ) {
        return false;
    }
    std::swap(a.access, b.access);
    std::swap(a.value, b.value);
    std::swap(a.pa_low, b.pa_low);
    std::swap(a.pa_high, b.pa_high);
    return true;
}

/// The records around `at` are of one CPU.
bool alone(const Records& records, std::size_t at) {
    constexpr std::size_t around = 8;
    const auto other = [cpu = records[at].cpu](const abi::Record& one) { return one.cpu != cpu; };
    const std::size_t end = std::min(records.size(), at + around);
    return std::none_of(&records[at - std::min(at, around)], records.data() + end, other);
}

void swap(Records& records, std::size_t from) {
    while (from + 1 < records.size() &&
           !(alone(records, from) && swap_contents(records[from], records[from + 1]))) {
        ++from;
    }
    if (from + 1 >= records.size()) {
        throw bad_input("no two such accesses there");
    }
}

void mutate(const std::string& how, std::size_t number, Records& records) {
    const std::size_t from = number > 0 ? number - 1 : 0;
    if (how == "drop") {
        records.erase(records.begin() + static_cast<std::ptrdiff_t>(first(plain, records, from)));
    } else if (how == "alter") {
        records[first(plain, records, from)].value ^= 1;
    } else if (how == "pc") {
        records[first(stepped, records, from)].pc ^= 4;
    } else if (how == "swap") {
        swap(records, from);
    } else {
        throw bad_input("unknown change '{}'", how);
    }
}

void copy(const std::string& how, std::size_t number, const char* from, const char* to) {
    const FileDescriptor in = open_input(from);
    FileSource source(in.get());
    trace::TraceReader reader(source, [](const std::string& text) { throw bad_input("{}", text); });
    Records records;
    for (auto block = reader.next(); !block.empty(); block = reader.next()) {
        records.insert(records.end(), block.begin(), block.end());
    }
    mutate(how, number, records);
    const FileDescriptor out = create_output(to);
    trace::WriteProgress progress;
    trace::FileWriter writer(out.get(), progress);
    if (reader.info()) {
        writer.values(abi::SectionType::info, std::span(&*reader.info(), 1));
    }
    std::string lines; // `verify` asks which QEMU it was
    for (const auto& [key, value] : reader.text()) {
        lines += fmt::format("{}={}\n", key, value);
    }
    writer.text(lines);
    writer.values(abi::SectionType::regions, reader.regions());
    writer.append(records);
    writer.finish(0, reader.end() ? reader.end()->ending : abi::Ending::machine_off);
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 5) {
        fmt::print(stderr, "usage: mutate-trace drop|alter|pc|swap N IN OUT\n");
        return 2;
    }
    try {
        copy(argv[1], std::strtoull(argv[2], nullptr, 10), argv[3], argv[4]);
    } catch (const Error& error) {
        fmt::print(stderr, "mutate-trace: {}\n", error.what());
        return 2;
    }
    return 0;
}
