#include "boot_mix.hpp"

#include "lib/file_writer.hpp"

#include <fmt/format.h>

#include <random>

namespace mmioscope::bench {

namespace {

struct Place {
    const char* path;
    std::uint32_t base;
    std::uint32_t offset[2]; ///< of reads and of writes
    unsigned share;          ///< of 100
};
constexpr Place places[] = {
    {"/bus@8000000/motherboard/iofpga@3,00000000/uart@90000", 0x1c09'0000, {0x18, 0x00}, 86},
    {"/interrupt-controller@2c001000", 0x2c00'2000, {0x0c, 0x10}, 6},
    {"/bus@8000000/motherboard/iofpga@3,00000000/mmc@50000", 0x1c05'0000, {0x80, 0x80}, 5},
    {"/bus@8000000/motherboard/iofpga@3,00000000/sysreg@10000", 0x1c01'0000, {0x60, 0xa4}, 3},
};

unsigned place_of(unsigned percent) {
    unsigned place = 0;
    for (unsigned end = places[0].share; percent >= end; end += places[++place].share) {
    }
    return place;
}

std::uint32_t below(std::mt19937& random, std::uint32_t limit) {
    return static_cast<std::uint32_t>(random() % limit);
}

abi::Record record(std::mt19937& random, unsigned index, unsigned (&sequences)[2]) {
    const unsigned place = place_of(below(random, 100));
    const bool write = below(random, 2) == 0;
    abi::Record record{};
    record.type = abi::RecordType::access;
    record.cpu = static_cast<std::uint8_t>(below(random, 8) == 0);
    record.access = abi::encode_access(write, 2);
    record.mode = 0x13;
    record.time = 1'000'000 + std::uint64_t{index} * 3'700 + below(random, 512);
    record.duration = 20 + below(random, 64);
    record.lock_sequence = index;
    record.cpu_sequence = sequences[record.cpu]++;
    record.device = static_cast<std::uint16_t>(place);
    record.value = write ? below(random, 128) : 0x90;
    record.pc = 0xc081'2340 + 4 * (place * 64 + below(random, 16));
    record.lr = record.pc - 0x400;
    record.pa_low = places[place].base + places[place].offset[write];
    record.va = 0xf000'0000 | (record.pa_low & 0xfff);
    record.task = 0xc100'0000 + 0x1000 * below(random, 24);
    return record;
}

std::vector<abi::RegionEntry> regions() {
    std::vector<abi::RegionEntry> all;
    for (const Place& place : places) {
        abi::RegionEntry entry{};
        entry.base = place.base;
        entry.size = 0x1000;
        std::string(place.path).copy(entry.path, sizeof entry.path - 1);
        all.push_back(entry);
    }
    return all;
}

} // namespace

BootMix::BootMix() : file_(memory_file("boot-mix", 0)) {
    trace::WriteProgress progress;
    trace::FileWriter writer(file_.get(), progress);
    abi::Info info{};
    info.counter_frequency = 62'500'000;
    info.cpu_count = 2;
    info.record_size = sizeof(abi::Record);
    info.region_size = sizeof(abi::RegionEntry);
    writer.values(abi::SectionType::info, std::span<const abi::Info>(&info, 1));
    const std::vector<abi::RegionEntry> all = regions();
    writer.values(abi::SectionType::regions, std::span<const abi::RegionEntry>(all));
    std::mt19937 random(1);
    unsigned sequences[2] = {};
    for (unsigned i = 0; i < events; ++i) {
        const abi::Record one = record(random, i, sequences);
        writer.append(std::span(&one, 1));
    }
    writer.finish(0, abi::Ending::machine_off);
}

std::string BootMix::path() const {
    return fmt::format("/proc/self/fd/{}", file_.get());
}

std::vector<std::byte> BootMix::bytes() const {
    std::vector<std::byte> all(static_cast<std::size_t>(::lseek(file_.get(), 0, SEEK_END)));
    if (::pread(file_.get(), all.data(), all.size(), 0) != static_cast<ssize_t>(all.size())) {
        std::abort();
    }
    return all;
}

const BootMix& boot_mix() {
    static const BootMix mix;
    return mix;
}

void count_events(benchmark::State& state, unsigned each) {
    using benchmark::Counter;
    const double count = static_cast<double>(state.iterations()) * each;
    state.counters["events/s"] = Counter(count, Counter::kIsRate);
    state.counters["s/event"] = Counter(count, Counter::kIsRate | Counter::kInvert);
}

} // namespace mmioscope::bench
