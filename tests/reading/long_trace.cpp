// long-trace FILE RECORDS [cut|old]: writes a trace of RECORDS accesses of two CPUs to two devices,
// one each microsecond, like a recorder; `cut`: like one that was killed; `old`: as before version
// 1.2, without an index.
#include "file/file_writer.hpp"
#include "system/error.hpp"
#include "system/file_descriptor.hpp"

#include <cstdlib>
#include <cstring>
#include <string>

using namespace mmioscope;

namespace {

void write_head(trace::FileWriter& writer) {
    abi::Info info{};
    info.counter_frequency = 1'000'000;
    info.cpu_count = 2;
    info.record_size = sizeof(abi::Record);
    info.region_size = sizeof(abi::RegionEntry);
    std::memset(info.boot_id, 0x5a, sizeof info.boot_id);
    std::strcpy(info.board, "made-up");
    writer.values(abi::SectionType::info, std::span<const abi::Info>(&info, 1));
    abi::RegionEntry regions[2] = {};
    const char* const paths[] = {"/soc/serial@90000", "/soc/mmc@50000"};
    for (unsigned n = 0; n < 2; ++n) {
        regions[n].base = 0x1c09'0000 - 0x4'0000 * n;
        regions[n].size = 0x1000;
        std::strcpy(regions[n].path, paths[n]);
    }
    writer.values(abi::SectionType::regions, std::span<const abi::RegionEntry>(regions));
    writer.text("kernel=made-up\n");
}

abi::Record record_at(std::uint64_t n) {
    abi::Record record{};
    record.commit = static_cast<std::uint32_t>(n / 2 + 1);
    record.type = abi::RecordType::access;
    record.cpu = n % 2;
    record.access = abi::encode_access(n % 3 == 0, 2);
    record.mode = 0x13;
    record.time = 1'000'000 + n;
    record.cpu_sequence = static_cast<std::uint32_t>(n / 2);
    record.lock_sequence = static_cast<std::uint32_t>(n / 2);
    record.device = n % 2;
    record.value = n;
    record.pc = 0xc000'0000 + static_cast<std::uint32_t>(n % 1024 * 4);
    record.pa_low = static_cast<std::uint32_t>(0x1c09'0000 - 0x4'0000 * (n % 2) + n % 16 * 4);
    return record;
}

void write_tail(trace::FileWriter& writer) {
    const abi::Statistics statistics[2] = {};
    writer.values(abi::SectionType::losses, std::span<const abi::Loss>());
    writer.values(abi::SectionType::statistics, std::span<const abi::Statistics>(statistics));
}

// Like finish() before version 1.2.
void write_old_end(trace::FileWriter& writer, std::uint64_t records) {
    const abi::End end{records, 0, abi::Ending::machine_off, 0, 0};
    writer.section(abi::SectionType::end,
                   std::as_bytes(std::span(&end, 1)).first(abi::first_end_size));
}

int write(const std::string& path, std::uint64_t records, const std::string& how) {
    const FileDescriptor file = create_output(path);
    trace::WriteProgress progress;
    trace::FileWriter writer(file.get(), progress);
    write_head(writer);
    for (std::uint64_t n = 0; n < records; ++n) {
        const abi::Record record = record_at(n);
        writer.append(std::span(&record, 1));
    }
    writer.flush();
    if (how == "cut") {
        return 0;
    }
    write_tail(writer);
    if (how == "old") {
        write_old_end(writer, records);
    } else {
        writer.finish(0, abi::Ending::machine_off);
    }
    return 0;
}

} // namespace

int main(int count, char** arguments) {
    const std::string how = count > 3 ? arguments[3] : "";
    if (count < 3 || count > 4 || (!how.empty() && how != "cut" && how != "old")) {
        fmt::print(stderr, "usage: long-trace FILE RECORDS [cut|old]\n");
        return 2;
    }
    try {
        return write(arguments[1], std::strtoull(arguments[2], nullptr, 0), how);
    } catch (const Error& error) {
        fmt::print(stderr, "long-trace: {}\n", error.what());
        return static_cast<int>(error.status());
    }
}
