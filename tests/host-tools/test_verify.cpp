// verify reports each kind of difference correctly.
#include "abi/shared_wire.hpp"
#include "bus.hpp"
#include "catch_2_or_3.hpp"
#include "verify/align.hpp"
#include "verify/artefacts.hpp"
#include "verify/events.hpp"
#include "verify/result_text.hpp"

#include <algorithm>
#include <numeric>

using namespace mmioscope;
using namespace mmioscope::test;

namespace {

std::string verdict_of(const Bus& bus) {
    return verify::verdict(bus.compare());
}

std::string differences(const Bus& bus) {
    const std::string text = verdict_of(bus);
    return text.substr(text.find(", ") + 2);
}

/// The first record from `from` on for which `wanted` is true.
template <typename Wanted>
std::size_t find(const Bus& bus, std::size_t from, Wanted wanted) {
    const auto begin = bus.trace.begin();
    return std::size_t(std::find_if(begin + std::ptrdiff_t(from), bus.trace.end(), wanted) - begin);
}

bool modelled(const abi::Record& record) {
    return record.device != 2;
}

template <typename T>
void remove_at(std::vector<T>& from, std::size_t at) {
    from.erase(from.begin() + std::ptrdiff_t(at));
}

} // namespace

TEST_CASE("the same run on both sides has no difference") {
    const unsigned seed = GENERATE(range(0u, 20u));
    CHECK(verdict_of(Bus(seed)) == "verify: 400 events compared, 0 differences");
}

TEST_CASE("a removed record is reported as missing") {
    const unsigned seed = GENERATE(range(0u, 20u));
    Bus bus(seed);
    SECTION("at the start") {
        remove_at(bus.trace, 0);
    }
    SECTION("in the middle") {
        remove_at(bus.trace, 100 + seed * 7);
    }
    SECTION("at the end") {
        bus.trace.pop_back();
    }
    CHECK(verdict_of(bus) == "verify: 399 events compared, 1 difference: 1 missing");
}

TEST_CASE("accesses of the guest after the machine's end are not reported as missing") {
    Bus bus(3);
    const std::size_t ends = find(bus, 390, modelled);
    const unsigned behind = GENERATE(1u, 64u, 65u);
    bus.trace.resize(ends + 1);
    bus.log.resize(ends + 1);
    for (unsigned i = 0; i < behind; ++i) {
        bus.log.push_back(log_line(false, 0, 0x1c09'0018, 0x90, 4));
    }
    const std::string all =
        fmt::format("{} difference{}: {} missing", behind, behind == 1 ? "" : "s", behind);
    CHECK(differences(bus) == all); // the access does not end the machine
    bus.trace[ends].flags |= abi::flag_early;
    CHECK(differences(bus) == (behind > 64 ? all : "0 differences"));
    // The trace has a later access, so it must have the rest.
    abi::Record later = bus.trace[ends];
    later.flags = 0;
    later.cpu_sequence += 1000;
    later.lock_sequence += 1;
    later.time += 1000;
    bus.add(later);
    CHECK(differences(bus) == all);
}

TEST_CASE("a record that the log does not have is reported as extra") {
    const unsigned seed = GENERATE(range(0u, 20u));
    Bus bus(seed);
    SECTION("at the start") {
        remove_at(bus.log, 0);
    }
    SECTION("in the middle") {
        remove_at(bus.log, 100 + seed * 7);
    }
    SECTION("at the end") {
        bus.log.pop_back();
    }
    CHECK(differences(bus) == "1 difference: 1 extra");
}

TEST_CASE("the one altered field is named") {
    const unsigned seed = GENERATE(range(0u, 20u));
    Bus bus(seed);
    abi::Record& record = bus.trace[find(bus, 50 + seed * 9, modelled)];
    SECTION("value") {
        record.value ^= 0x100;
        CHECK(differences(bus) == "1 difference: 1 value");
    }
    SECTION("a value like its neighbours'") {
        record.value = (record.value + 1) % 3;
        CHECK(differences(bus) == "1 difference: 1 value");
    }
    SECTION("value beyond the access's size") {
        record.value |= 0x1'0000'0000;
        CHECK(differences(bus) == "1 difference: 1 value");
    }
    SECTION("direction") {
        record.access ^= abi::access_write;
        CHECK(differences(bus) == "1 difference: 1 direction");
    }
    SECTION("size") {
        record.access = abi::encode_access(abi::is_write(record), 1);
        CHECK(differences(bus) == "1 difference: 1 size");
    }
    SECTION("address") {
        record.pa_low ^= 0x800;
        CHECK(differences(bus) == "1 difference: 1 address");
    }
    SECTION("cpu") {
        record.cpu ^= 1;
        CHECK(differences(bus) == "1 difference: 1 cpu");
    }
}

TEST_CASE("direction, address and size of an access to an unmodelled device are compared") {
    Bus bus(3);
    abi::Record& record =
        bus.trace[find(bus, 50, [](const abi::Record& r) { return r.device == 2; })];
    SECTION("direction") {
        record.access ^= abi::access_write;
        CHECK(differences(bus) == "1 difference: 1 direction");
    }
    SECTION("size") {
        record.access = abi::encode_access(abi::is_write(record), 1);
        CHECK(differences(bus) == "1 difference: 1 size");
    }
    SECTION("address") {
        record.pa_low ^= 0x800;
        CHECK(differences(bus) == "1 difference: 1 address");
    }
}

TEST_CASE("two swapped neighbours of one device are out of order") {
    const unsigned seed = GENERATE(range(0u, 20u));
    Bus bus(seed);
    std::size_t at = 100;
    const auto exchangeable = [&](std::size_t i) {
        const abi::Record& a = bus.trace[i];
        const abi::Record& b = bus.trace[i + 1];
        return a.device == b.device && (a.value != b.value || a.device == 2) &&
               (a.pa_low != b.pa_low || a.access != b.access);
    };
    while (!exchangeable(at)) {
        ++at;
    }
    SECTION("with time and numbers, as if written too late") {
        std::swap(bus.trace[at], bus.trace[at + 1]);
    }
    SECTION("only the accesses, not time and numbers") {
        abi::Record& a = bus.trace[at];
        abi::Record& b = bus.trace[at + 1];
        std::swap(a.cpu, b.cpu);
        std::swap(a.cpu_sequence, b.cpu_sequence);
        std::swap(a.access, b.access);
        std::swap(a.value, b.value);
        std::swap(a.pa_low, b.pa_low);
    }
    CHECK(verdict_of(bus) == "verify: 400 events compared, 1 difference: 1 order");
}

TEST_CASE("identical neighbours swapped in the file are out of order, too") {
    Bus bus(1, 100);
    abi::Record record = bus.trace.back();
    record.device = 0;
    record.pa_low = 0x1c09'0000;
    for (unsigned i = 0; i < 4; ++i) {
        record.time += 10;
        record.lock_sequence = 1000 + i;
        ++record.cpu_sequence;
        bus.add(record);
    }
    std::swap(bus.trace[101], bus.trace[102]);
    CHECK(verdict_of(bus) == "verify: 104 events compared, 1 difference: 1 order");
}

namespace {

/// Two accesses of two CPUs to two devices, in the opposite order in the log.
Bus inverted() {
    Bus bus(5, 0);
    for (unsigned i = 0; i < 2; ++i) {
        abi::Record record = access(i, 0, 1000 + 5 * i);
        record.duration = 8;
        record.device = static_cast<std::uint16_t>(i);
        record.pa_low = static_cast<std::uint32_t>(bus.regions[i].base);
        bus.add(record);
    }
    std::swap(bus.log[0], bus.log[1]);
    return bus;
}

} // namespace

TEST_CASE("two devices may be inverted only where the intervals overlap") {
    Bus bus = inverted();
    CHECK(differences(bus) == "0 differences");
    bus.trace[0].duration = 5; // ends at the same tick
    CHECK(differences(bus) == "0 differences");
    bus.trace[0].duration = 4;
    CHECK(differences(bus) == "1 difference: 1 order");
}

TEST_CASE("an early record has no known end, a boot record no known start") {
    Bus bus = inverted();
    bus.trace[0].duration = 0;
    CHECK(differences(bus) == "1 difference: 1 order");
    SECTION("early") {
        bus.trace[0].flags = abi::flag_early;
    }
    SECTION("boot") {
        bus.trace[1].flags = abi::flag_boot;
    }
    CHECK(differences(bus) == "0 differences");
}

TEST_CASE("a long hole is that many missing records") {
    Bus bus(9, 3000);
    bus.trace.erase(bus.trace.begin() + 1000, bus.trace.begin() + 1700);
    const verify::Result result = bus.compare();
    CHECK(result.by_kind[std::size_t(verify::Kind::missing)] >= 600);
    CHECK(result.differences.size() < 1000);
}

TEST_CASE("several differences far from one another are each reported") {
    Bus bus(11, 2000);
    bus.trace[find(bus, 1500, modelled)].value ^= 0x100;
    remove_at(bus.trace, 700);
    remove_at(bus.log, 200);
    CHECK(differences(bus) == "3 differences: 1 missing, 1 extra, 1 value");
}

TEST_CASE("the comparison of runs without anything in common ends soon") {
    Bus bus(13, 20'000);
    bus.log = Bus(14, 20'000).log;
    CHECK(bus.compare().differences.size() > 1000);
}

namespace {

/// One CPU's writes on both sides, each of a value of its own unless a test says otherwise.
struct Writes {
    std::vector<importing::Line> lines;
    std::vector<importing::Event> events;

    void line(std::uint64_t value) {
        importing::Line one{};
        one.kind = importing::LineKind::access;
        one.address = 0x1c09'0000;
        one.value = value;
        one.size = 4;
        one.write = true;
        lines.push_back(one);
    }
    void event(std::uint64_t value) {
        importing::Event one{};
        one.address = 0x1c09'0000;
        one.value = value;
        one.size = 4;
        one.write = true;
        one.value_known = true;
        events.push_back(one);
    }
    verify::Matching align() const {
        verify::Stream stream{std::vector<std::uint32_t>(lines.size()),
                              std::vector<std::uint32_t>(events.size())};
        std::iota(stream.lines.begin(), stream.lines.end(), 0u);
        std::iota(stream.events.begin(), stream.events.end(), 0u);
        verify::Matching matching(lines.size(), events.size());
        verify::align(stream, lines, events, matching);
        return matching;
    }
};

} // namespace

TEST_CASE("before an anchor, events without a line cost a bounded number of comparisons") {
    constexpr std::uint32_t count = 6'000;
    constexpr std::uint32_t other = 1'000'000;
    Writes writes;
    for (std::uint32_t i = 0; i < count; ++i) {
        writes.line(i);
        writes.event(other + i);
    }
    writes.line(2 * other);
    writes.event(2 * other);
    const verify::Matching matching = writes.align();
    CHECK(matching.in_vain >= 1'000'000);
    CHECK(matching.in_vain <= 10'000'000 + count);
    CHECK(matching.line_of[count] == count);
    CHECK(std::ranges::count(matching.explained, true) == 1);
}

TEST_CASE("before an anchor, hundreds of events without a line do not hide those with one") {
    constexpr std::uint32_t count = 400;
    constexpr std::uint32_t other = 1'000'000;
    constexpr std::uint32_t polled = 7 * other; // on both sides several times, so no anchor
    Writes writes;
    for (std::uint32_t i = 0; i < count; ++i) {
        for (std::uint32_t lost = 0; lost < 20; ++lost) {
            writes.line(20 * i + lost);
        }
        writes.event(other + i);
        writes.line(polled);
        writes.event(polled);
    }
    writes.line(8 * other);
    writes.event(8 * other);
    const verify::Matching matching = writes.align();
    CHECK(std::ranges::count(matching.explained, true) == count + 1);
    for (std::uint32_t i = 0; i < count; ++i) {
        CHECK(matching.line_of[2 * i] == importing::nowhere);
        CHECK(matching.line_of[2 * i + 1] == 21 * i + 20);
    }
}

TEST_CASE("a region's path may have no terminating zero") {
    const auto full = [](std::string_view end) {
        abi::RegionEntry entry = region(0x1c09'0000, 0x1000, "");
        std::ranges::fill(entry.path, 'x');
        end.copy(entry.path + sizeof entry.path - end.size(), end.size());
        return std::vector<abi::RegionEntry>(1, entry); // nothing behind it
    };
    Writes writes;
    writes.event(1);
    writes.events[0].write = false;
    CHECK(verify::rom_reads(writes.events, full("/flash")) == std::vector<bool>{true});
    CHECK(verify::rom_reads(writes.events, full("/flush")) == std::vector<bool>{false});
    importing::AccessLog log;
    log.regions = {"pcie-mmcfg-mmio"};
    writes.line(1);
    log.lines = writes.lines;
    log.lines[0].address = 4;
    verify::place_aliased(log, full("/pcie"));
    CHECK(log.lines[0].address == 0x1c09'0004);
}

TEST_CASE("an empty trace lacks every line") {
    Bus bus(15);
    bus.trace.clear();
    CHECK(differences(bus) == "400 differences: 400 missing");
}

TEST_CASE("a line that cannot be read is a difference") {
    Bus bus(16);
    bus.log[20] = "memory_region_ops_read cpu 0 mr 0x55d0c0de addr 0x1c\n";
    CHECK(bus.compare().by_kind[std::size_t(verify::Kind::unreadable)] == 1);
}

namespace {

/// A run whose stream leaves through its first device, a UART: behind each record some bytes of it.
/// The guest's accesses to the UART are those of the trace, and have any value.
Bus with_shared_uart(unsigned seed) {
    Bus bus(seed, 0);
    std::mt19937 generator(seed);
    const auto random = [&generator] { return static_cast<std::uint32_t>(generator()); };
    bus.regions[0].flags |= abi::region_shared;
    const bool imx = seed % 2 == 0;
    const std::string name = imx ? "imx.serial" : "pl011";
    const std::uint32_t data = imx ? 0x40 : 0;
    const std::uint32_t status = imx ? 0xb4 : 0x18;
    const auto stream = [&](unsigned cpu, std::uint32_t byte) {
        bus.log.push_back(log_line(false, cpu, 0x1c09'0000 + status, 0x90, 4, name));
        bus.log.push_back(log_line(true, cpu, 0x1c09'0000 + data, byte, 4, name));
    };
    for (unsigned n = 0; n < (imx ? 9 : 6); ++n) { // sets the UART up, then ends what was there
        bus.log.push_back(log_line(true, 0, 0x1c09'0030, n, 4, name));
    }
    stream(0, 0xff);
    std::uint32_t sequences[2] = {};
    for (unsigned i = 0; i < 300; ++i) {
        for (unsigned n = random() % 3; n > 0; --n) {
            stream(random() % 2, n == 1 ? 0xff : 0x80 + random() % 0x7d);
        }
        const unsigned cpu = random() % 2;
        abi::Record record = access(cpu, sequences[cpu]++, 1000 + 10 * i);
        record.duration = 8;
        record.device = 0;
        record.lock_sequence = i;
        const bool write = random() % 2 == 0;
        record.access = abi::encode_access(write, 2);
        record.pa_low = 0x1c09'0000 + (write ? data : status);
        record.value = write ? random() % 256 : 0x90;
        if (write && record.value >= 0x80) {
            stream(cpu, record.value == 0xfd ? 0xfd : 0xfe);
        }
        bus.trace.push_back(record);
        bus.log.push_back(log_line(write, cpu, record.pa_low, record.value, 4, name));
    }
    return bus;
}

} // namespace

TEST_CASE("a stream on the guest's own UART is told apart from the guest's accesses to it") {
    const unsigned seed = GENERATE(range(0u, 20u));
    Bus bus = with_shared_uart(seed);
    CHECK(verdict_of(bus) == "verify: 300 events compared, 0 differences");
    SECTION("a missing record") {
        remove_at(bus.trace, 40 + seed * 7);
        // One that its neighbours are like may also be said to be out of order.
        CHECK(differences(bus).find(": 1 missing") != std::string::npos);
    }
    SECTION("an altered value") {
        bus.trace[find(bus, 40 + seed * 7, abi::is_write)].value ^= 0x41;
        CHECK(differences(bus) == "1 difference: 1 value");
    }
    SECTION("a UART that no stream uses") {
        bus.regions[0].flags = abi::region_traced;
        CHECK(differences(bus) != "0 differences");
    }
}
