// Writes a trace of N records with a bit of everything: all types, sizes and flags, losses with gap
// records and losses visible only in the numbers, polls, markers, 64-bit values, remapped pages.
// The same N gives the same file. Usage: make-trace N FILE
#include "abi/control.hpp"
#include "abi/payload.hpp"
#include "file/file_writer.hpp"
#include "records/losses.hpp"
#include "system/error.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <random>
#include <string>

using namespace mmioscope;

namespace {

constexpr unsigned cpus = 4;

struct Device {
    std::uint64_t base;
    std::uint64_t size;
    const char* path;
};
constexpr std::array<Device, 6> devices = {{
    {0x1c09'0000, 0x1000, "/bus@8000000/serial@90000"},
    {0x1c05'0000, 0x1000, "/bus@8000000/mmci@50000"},
    {0x2c00'1000, 0x1000, "/interrupt-controller@2c001000"},
    {0x1a00'0000, 0x10000, "/bus@8000000/ethernet@202000000"},
    {0x80'1000'0000, 0x10'0000, "/pcie@10000000,\"odd\""},
    {0x1001'0800, 0x100, "/unaligned@10010800"},
}};

abi::RegionEntry region(const Device& device) {
    abi::RegionEntry entry{};
    entry.base = device.base;
    entry.size = device.size;
    entry.flags = abi::region_traced;
    std::string(device.path).copy(entry.path, sizeof entry.path - 1);
    return entry;
}

class Maker {
public:
    Maker(int fd, std::uint64_t wanted) : writer_(fd, progress_), wanted_(wanted) {}

    void run() {
        head();
        sequence_[3] = 5; // CPU 3's first records are missing
        while (made_ < wanted_) {
            next();
        }
        for (unsigned cpu = 0; cpu < cpus; ++cpu) {
            losses_.finish_at(cpu, sequence_[cpu] + cpu); // and the last ones of CPUs 1 to 3
        }
        writer_.flush();
        writer_.values(abi::SectionType::losses, std::span<const abi::Loss>(losses_.losses()));
        writer_.finish(losses_.lost(), abi::Ending::machine_off);
    }

private:
    void head() {
        abi::Info info{};
        info.counter_frequency = 62'500'000;
        info.cpu_count = cpus;
        info.record_size = sizeof(abi::Record);
        info.region_size = sizeof(abi::RegionEntry);
        for (unsigned i = 0; i < sizeof info.boot_id; ++i) {
            info.boot_id[i] = static_cast<std::uint8_t>(i * 17 + 1);
        }
        std::string("made-up").copy(info.board, sizeof info.board - 1);
        writer_.values(abi::SectionType::info, std::span<const abi::Info>(&info, 1));
        std::array<abi::RegionEntry, devices.size()> regions{};
        std::transform(devices.begin(), devices.end(), regions.begin(), region);
        writer_.values(abi::SectionType::regions, std::span<const abi::RegionEntry>(regions));
        writer_.text("kernel=made up, \"quoted\"\n");
    }

    std::uint64_t any() { return random_(); }
    bool one_in(unsigned n) { return any() % n == 0; }

    abi::Record base(unsigned cpu) {
        time_ += any() % 5 == 0 ? 0 : any() % 400;
        abi::Record r{};
        r.cpu = static_cast<std::uint8_t>(cpu);
        r.time = time_;
        r.device = abi::no_device;
        return r;
    }

    void put(abi::Record r) {
        r.cpu_sequence = sequence_[r.cpu];
        sequence_[r.cpu] +=
            r.type == abi::RecordType::gap ? static_cast<std::uint32_t>(r.value) : 1;
        r.commit = r.cpu_sequence + 1;
        losses_.add(r);
        writer_.append(std::span(&r, 1));
        ++made_;
    }

    abi::Record access(unsigned cpu, unsigned log2_size) {
        const unsigned device = static_cast<unsigned>(any() % (devices.size() + 1));
        abi::Record r = base(cpu);
        r.type = abi::RecordType::access;
        r.access = abi::encode_access(one_in(2), log2_size);
        r.access = static_cast<std::uint8_t>(r.access | (any() & 0x70));
        r.mode = static_cast<std::uint8_t>(one_in(9) ? 0x10 | abi::mode_thumb : 0x13);
        std::uint64_t pa = 0x1234'5000 + any() % 0x1000;
        if (device < devices.size()) {
            r.device = static_cast<std::uint16_t>(device);
            pa = devices[device].base + any() % devices[device].size;
        }
        pa &= ~((std::uint64_t{1} << std::min(log2_size, 3u)) - 1);
        abi::set_physical_address(r, pa);
        r.va = 0xe000'0000 + static_cast<std::uint32_t>(device << 20 | (pa & 0xfffff));
        r.va ^= made_ % 5000 < 2500 ? 0 : 0x0800'0000; // remapped now and then
        r.lock_sequence = order_[device]++;
        r.duration = static_cast<std::uint32_t>(any() % 3 == 0 ? 0 : any() % 90);
        r.value = log2_size >= 3 ? any() | (one_in(2) ? 1ull << 63 : 0)
                                 : any() & ((1ull << (8u << log2_size)) - 1);
        r.pc = 0xc010'0000 + static_cast<std::uint32_t>(any() % 700) * 4;
        r.lr = 0xc030'0000 + static_cast<std::uint32_t>(any() % 50) * 4;
        r.sp = 0xe0f4'1d00;
        r.task = 0xc23f'0000 + static_cast<std::uint32_t>(any() % 9) * 0x1000;
        r.flags = static_cast<std::uint8_t>(one_in(20) ? any() & 0xf : 0);
        return r;
    }

    void poll(unsigned cpu) {
        abi::Record r = access(cpu, 2);
        r.access &= static_cast<std::uint8_t>(~abi::access_write);
        r.flags = 0;
        for (unsigned i = 0, n = 2 + static_cast<unsigned>(any() % 30); i < n; ++i) {
            put(r);
            r.time = time_ += 64;
            r.lock_sequence = order_[r.device == abi::no_device ? devices.size() : r.device]++;
            r.flags = abi::flag_estimated;
        }
    }

    void mark(unsigned cpu, const std::string& text) {
        for (std::size_t at = 0; at <= text.size(); at += 8) {
            abi::Record r = base(cpu);
            r.type = abi::RecordType::marker;
            for (std::size_t i = at; i < std::min(at + 8, text.size()); ++i) {
                r.value |= std::uint64_t{static_cast<unsigned char>(text[i])} << 8 * (i - at);
            }
            r.pa_low = static_cast<std::uint32_t>(abi::control::Command::marker_text) |
                       std::uint32_t{++id_} << 16;
            put(r);
        }
    }

    void odd(unsigned cpu) {
        using abi::RecordType;
        static constexpr RecordType plain[] = {
            RecordType::interrupt, RecordType::power, RecordType::configuration,
            RecordType::marker,    RecordType::task,  static_cast<RecordType>(99)};
        static constexpr RecordType placed[] = {RecordType::own, RecordType::fetch,
                                                RecordType::maintenance,
                                                RecordType::page_table_walk, RecordType::fault};
        if (one_in(2)) {
            abi::Record r = base(cpu);
            r.type = plain[any() % std::size(plain)];
            r.value = any() % 300;
            r.pa_low = r.type == RecordType::configuration ? 1 : 0;
            put(r);
        } else {
            abi::Record r = access(cpu, 2);
            r.type = placed[any() % std::size(placed)];
            r.value = r.type == RecordType::fault ? any() % 9 : r.value;
            put(r);
        }
    }

    /// One that owns a payload.
    void own(unsigned cpu) {
        abi::Record r = access(cpu, 2);
        r.flags |= abi::flag_payload;
        put(r);
        for (unsigned left = static_cast<unsigned>(any() % 3);; --left) {
            r = abi::next_piece(r);
            std::uint8_t bytes[abi::piece_bytes];
            for (std::uint8_t& byte : bytes) {
                byte = static_cast<std::uint8_t>(any());
            }
            abi::set_bytes(r, bytes, left > 0 ? sizeof bytes : 1 + any() % sizeof bytes, left > 0);
            put(r);
            if (left == 0) {
                return;
            }
        }
    }

    void lose(unsigned cpu) {
        const std::uint32_t hole = static_cast<std::uint32_t>(any() % 3);
        sequence_[cpu] += hole;
        if (hole == 0 || one_in(2)) {
            abi::Record r = base(cpu);
            r.type = abi::RecordType::gap;
            r.value = 1 + any() % 900;
            put(r);
        }
    }

    void next() {
        const unsigned cpu = static_cast<unsigned>(any() % cpus);
        const std::uint64_t what = any() % 1000;
        if (what < 3) {
            lose(cpu);
        } else if (what < 6) {
            mark(cpu, one_in(2) ? "before the second, \"loud\" write" : "8 bytes.");
        } else if (what < 20) {
            odd(cpu);
        } else if (what < 30) {
            poll(cpu);
        } else if (what < 32) {
            abi::Record r = access(cpu, 2);
            r.type = abi::RecordType::begin;
            put(r);
            r.type = abi::RecordType::access;
            put(r);
        } else if (what < 34) {
            own(cpu);
        } else if (what < 36) {
            put(access(cpu, 4 + static_cast<unsigned>(any() % 3)));
        } else {
            put(access(cpu, static_cast<unsigned>(any() % 4)));
        }
    }

    trace::WriteProgress progress_;
    trace::FileWriter writer_;
    trace::LossCounter losses_{cpus};
    std::mt19937_64 random_{5489};
    std::uint64_t wanted_;
    std::uint64_t made_ = 0;
    std::uint64_t time_ = 11'458'207;
    std::uint16_t id_ = 0;
    std::array<std::uint32_t, cpus> sequence_{};
    std::array<std::uint32_t, devices.size() + 1> order_{};
};

} // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        fmt::print(stderr, "usage: make-trace N FILE\n");
        return 2;
    }
    try {
        const FileDescriptor file = create_output(argv[2]);
        Maker(file.get(), std::strtoull(argv[1], nullptr, 10)).run();
    } catch (const Error& error) {
        fmt::print(stderr, "make-trace: {}\n", error.what());
        return 1;
    }
}
