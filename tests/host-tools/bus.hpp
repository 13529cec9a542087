// A made-up run: events on the bus, as QEMU's log and the trace show them.
#pragma once

#include "file/trace_reader.hpp"
#include "records.hpp"
#include "system/byte_source.hpp"
#include "verify/artefacts.hpp"
#include "verify/compare.hpp"

#include <fmt/format.h>

#include <random>
#include <string>
#include <vector>

namespace mmioscope::test {

inline std::string log_line(bool write, unsigned cpu, std::uint64_t address, std::uint64_t value,
                            unsigned size, const std::string& name = "pl011") {
    return fmt::format("memory_region_ops_{} cpu {} mr 0x55d0c0de addr {:#x} value {:#x} size {} "
                       "name '{}'\n",
                       write ? "write" : "read", static_cast<int>(cpu), address, value, size, name);
}

inline std::string unmodelled_line(bool write, std::uint64_t address, unsigned size) {
    return fmt::format("Invalid {} at addr 0x{:X}, size {}, region '(null)', reason: rejected\n",
                       write ? "write" : "read", address, size);
}

inline importing::AccessLog parse(const std::string& text) {
    MemorySource source(std::as_bytes(std::span(text.data(), text.size())));
    return importing::read_access_log(source);
}

/// A run of three devices, one of them unmodelled, on two CPUs. Lines and records are in the order
/// of the bus, one line for each record.
struct Bus {
    std::vector<std::string> log;
    std::vector<abi::Record> trace;
    std::string qemu = "7.2.22 (Debian 1:7.2+dfsg-7)";
    std::vector<abi::RegionEntry> regions = {region(0x1c09'0000, 0x1000, "/bus/serial@90000"),
                                             region(0x1c05'0000, 0x1000, "/bus/mmc@50000"),
                                             region(0x1c0f'0000, 0x1000, "/bus/watchdog@f0000")};

    explicit Bus(unsigned seed, unsigned count = 400) {
        for (abi::RegionEntry& one : regions) {
            one.flags = abi::region_traced;
        }
        std::mt19937 random(seed);
        std::uint32_t locks[3] = {};
        std::uint32_t sequences[2] = {};
        for (unsigned i = 0; i < count; ++i) {
            const unsigned cpu = random() % 4 == 0 ? 1 : 0;
            const unsigned device = static_cast<unsigned>(random() % 3);
            abi::Record record = access(cpu, sequences[cpu]++, 1000 + 10 * i);
            record.duration = 8;
            record.device = static_cast<std::uint16_t>(device);
            record.lock_sequence = locks[device]++;
            const bool write = random() % 2 == 0;
            record.access = abi::encode_access(write, 2);
            record.pa_low = static_cast<std::uint32_t>(regions[device].base + random() % 4 * 4);
            record.value = random() % 3; // few values, as in polling loops
            add(record);
        }
    }

    void add(const abi::Record& record) {
        trace.push_back(record);
        log.push_back(record.device == 2
                          ? unmodelled_line(abi::is_write(record), record.pa_low, 4)
                          : log_line(abi::is_write(record), record.cpu, record.pa_low, record.value,
                                     4, record.device == 0 ? "pl011" : "pl181"));
    }

    /// The trace's events, read from a file.
    std::vector<importing::Event> events() const {
        const std::vector<std::byte> bytes = trace_bytes([&](trace::FileWriter& writer) {
            write_info(writer);
            write_regions(writer, regions);
            writer.append(trace);
            writer.finish(0, abi::Ending::machine_off);
        });
        MemorySource source(bytes);
        trace::TraceReader reader(source, [](const std::string& problem) { FAIL(problem); });
        return verify::read_events(reader).all;
    }

    verify::Result compare() const {
        std::string text;
        for (const std::string& line : log) {
            text += line;
        }
        importing::AccessLog parsed = parse(text);
        verify::mark_newer(parsed, qemu);
        return verify::compare(parsed, events(), regions);
    }
};

} // namespace mmioscope::test
