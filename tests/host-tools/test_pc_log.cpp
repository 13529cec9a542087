// The log of PCs, as from tests/qemu/pc_log.c, compared with a trace.
#include "bus.hpp"
#include "catch_2_or_3.hpp"
#include "verify/compare.hpp"
#include "verify/events.hpp"
#include "verify/result_text.hpp"

#include <algorithm>

using namespace mmioscope;
using namespace mmioscope::test;

namespace {

importing::AccessLog parse_pcs(const std::string& text) {
    MemorySource source(std::as_bytes(std::span(text.data(), text.size())));
    return verify::read_pc_log(source);
}

std::string pc_line(const abi::Record& record) {
    return fmt::format("{} {} {} {:#x} {:#x}\n", record.cpu, abi::is_write(record) ? 'W' : 'R',
                       abi::access_size(record), abi::physical_address(record), record.pc);
}

/// A run of two CPUs. The third device has no model, but the plugin sees its accesses.
struct PcBus {
    Bus bus;
    std::vector<std::string> log;

    explicit PcBus(unsigned seed) : bus(seed) {
        for (const abi::Record& record : bus.trace) {
            log.push_back(pc_line(record));
        }
    }

    std::string verdict() const {
        std::string text;
        for (const std::string& line : log) {
            text += line;
        }
        importing::AccessLog parsed = parse_pcs(text);
        const std::vector<importing::Event> events = bus.events();
        return verify::verdict(verify::compare_pcs(parsed, events, bus.regions), "PCs");
    }
};

} // namespace

TEST_CASE("a line of the PC log") {
    const auto log = parse_pcs("1 W 2 0x1c090000 0xc0a8481c\n0 R 4 0x1c020000 0x10f4\n");
    REQUIRE(log.lines.size() == 2);
    CHECK(log.unreadable.empty());
    const importing::Line& line = log.lines[0];
    CHECK(line.cpu == 1);
    CHECK(line.write);
    CHECK(line.size == 2);
    CHECK(line.address == 0x1c09'0000);
    CHECK(line.pc == 0xc0a8'481c);
    CHECK(!log.lines[1].write);
    CHECK(log.lines[1].number == 2);
}

TEST_CASE("other lines in the PC log cannot be read") {
    const char* text = GENERATE("\n", "1 W 2 0x1c090000\n", "1 X 2 0x1c090000 0x10\n",
                                "-1 W 2 0x1c090000 0x10\n", "1 W 2 0x1c090000 0x10 more\n",
                                "1 W 2 0x1c090000 0x1c0a8481c\n", "300 W 2 0x1c090000 0x10\n");
    const auto log = parse_pcs(text);
    CHECK(log.lines.empty());
    CHECK(log.unreadable == std::vector<std::uint32_t>{1});
}

TEST_CASE("the same PCs on both sides are no difference") {
    const unsigned seed = GENERATE(range(0u, 20u));
    CHECK(PcBus(seed).verdict() == "verify: 400 PCs compared, 0 differences");
}

TEST_CASE("the PC log has no order between CPUs") {
    PcBus run(3);
    std::stable_partition(run.log.begin(), run.log.end(),
                          [](const std::string& line) { return line.starts_with('1'); });
    CHECK(run.verdict() == "verify: 400 PCs compared, 0 differences");
}

TEST_CASE("one wrong PC is reported, wherever it is") {
    PcBus run(4);
    const std::size_t at = GENERATE(0u, 1u, 123u, 398u, 399u);
    run.bus.trace[at].pc ^= 4;
    CHECK(run.verdict() == "verify: 400 PCs compared, 1 difference: 1 pc");
}

TEST_CASE("swapped PCs of one CPU are two differences") {
    PcBus run(5);
    std::vector<abi::Record*> mine;
    for (abi::Record& record : run.bus.trace) {
        if (record.cpu == 0) {
            mine.push_back(&record);
        }
    }
    std::swap(mine[50]->pc, mine[51]->pc);
    CHECK(run.verdict() == "verify: 400 PCs compared, 2 differences: 2 pc");
}

TEST_CASE("accesses for which the hypervisor has PCs of its own are compared without PCs") {
    PcBus run(6);
    abi::Record& record = run.bus.trace[200];
    record.pc = 0;
    SECTION("its own access") {
        record.type = abi::RecordType::own;
    }
    SECTION("an emulated one") {
        record.access |= abi::access_emulated;
    }
    CHECK(run.verdict() == "verify: 399 PCs compared, 0 differences");
    record.pa_low ^= 0x10;
    CHECK(run.verdict() == "verify: 399 PCs compared, 1 difference: 1 address");
}

TEST_CASE("accesses that only one side has are reported") {
    PcBus run(7);
    SECTION("the trace lacks one") {
        run.bus.trace.erase(run.bus.trace.begin() + 77);
        CHECK(run.verdict() == "verify: 399 PCs compared, 1 difference: 1 missing");
    }
    SECTION("the log lacks one") {
        run.log.erase(run.log.begin() + 77);
        CHECK(run.verdict() == "verify: 399 PCs compared, 1 difference: 1 extra");
    }
    SECTION("a line is damaged") {
        run.log[77] = "0 R 4 0x1c0\n";
        CHECK(run.verdict() == "verify: 399 PCs compared, 2 differences: 1 extra, 1 unreadable");
    }
}
