// Lines as QEMU 7.2 prints them.
#include "bus.hpp"
#include "catch_2_or_3.hpp"
#include "import/importing.hpp"
#include "system/error.hpp"

#include <algorithm>
#include <cstring>

using namespace mmioscope;
using namespace mmioscope::test;
using importing::LineKind;

TEST_CASE("an access of a CPU to a device model") {
    const auto log = parse("memory_region_ops_read cpu 1 mr 0x5563d507b740 addr 0x1c090018 "
                           "value 0x1190f500 size 1 name 'pl011'\n");
    REQUIRE(log.lines.size() == 1);
    const importing::Line& line = log.lines[0];
    CHECK(line.address == 0x1c09'0018);
    CHECK(line.value == 0x1190'f500);
    CHECK(line.cpu == 1);
    CHECK(line.size == 1);
    CHECK(!line.write);
    CHECK(line.kind == LineKind::access);
    CHECK(log.regions[line.region] == "pl011");
}

TEST_CASE("an access to an address without a device model") {
    const auto log =
        parse("Invalid write at addr 0x1C020000, size 4, region '(null)', reason: rejected\n");
    REQUIRE(log.lines.size() == 1);
    CHECK(log.lines[0].kind == LineKind::unmodelled);
    CHECK(log.lines[0].address == 0x1c02'0000);
    CHECK(log.lines[0].write);
    CHECK(log.lines[0].cpu == -1);
}

TEST_CASE("an access that a device model refused") {
    const auto log = parse("Invalid read at addr 0x44, size 1, region 'sp804', "
                           "reason: invalid size (min:4 max:4)\n");
    REQUIRE(log.lines.size() == 1);
    CHECK(log.lines[0].kind == LineKind::rejected);
}

TEST_CASE("accesses of QEMU itself and other messages are counted") {
    const auto log = parse("memory_region_ops_write cpu -1 mr 0x5 addr 0x1c010030 value 0x0 size 4 "
                           "name 'arm-sysctl'\n"
                           "pl011_read: Bad offset 0x123\n");
    CHECK(log.lines.empty());
    CHECK(log.not_by_cpu == 1);
    CHECK(log.other_lines == 1);
}

TEST_CASE("a line has its time, in what QEMU's backends write in front of it") {
    const std::string access = "memory_region_ops_read cpu 1 mr 0x5 addr 0x10 value 0x1 size 1\r\n";
    const auto log = parse(access + "760@1795825732.553041:" + access +
                           "q-1 [001] ..... 1795825733.000002: tracing_mark_write: " + access +
                           "760@1795825732.55:" + access + "760@99999999999999.000001:" + access);
    REQUIRE(log.lines.size() == 5);
    CHECK(log.regions == std::vector<std::string>{"mr-5"});
    // Lines without one have that of the line before; the first ones that of the first.
    const std::uint64_t first = 1'795'825'732'553'041;
    const std::uint64_t second = 1'795'825'733'000'002;
    CHECK(log.times == std::vector<std::uint64_t>{first, first, second, second, second});
    CHECK(parse(access).times.empty());
}

TEST_CASE("regions of one name are apart by their pointers, if wanted") {
    const std::string text = log_line(true, 0, 0x1000, 1, 4);
    std::string other = text;
    other.replace(other.find("mr 0x"), 6, "mr 0xf");
    const std::string both = text + other;
    MemorySource source(std::as_bytes(std::span(both)));
    CHECK(importing::read_access_log(source, importing::Regions::each).regions.size() == 2);
    CHECK(parse(both).regions.size() == 1);
}

TEST_CASE("a line cut at any place does no harm") {
    const std::string whole = log_line(true, 0, 0x1c09'0000, 0x61, 4);
    for (std::size_t size = 0; size + 1 < whole.size(); ++size) {
        const auto log = parse(whole + whole.substr(0, size));
        // A line without its line end is complete if nothing else is missing.
        const bool complete = size + 1 == whole.size();
        CHECK(log.lines.size() == (complete ? 2u : 1u));
    }
}

TEST_CASE("a log longer than one read block keeps every line") {
    std::string text;
    constexpr std::uint32_t count = 30'000;
    for (std::uint32_t i = 0; i < count; ++i) {
        text += log_line(false, 0, 0x1c09'0000, i, 4);
    }
    const auto log = parse(text);
    REQUIRE(log.lines.size() == count);
    for (std::uint32_t i = 0; i < count; ++i) {
        REQUIRE(log.lines[i].value == i);
        REQUIRE(log.lines[i].number == i + 1);
    }
}

namespace {

/// `size` bytes in one line.
class OneLine : public ByteSource {
public:
    explicit OneLine(std::size_t size) : left(size) {}
    std::size_t read(void* to, std::size_t size) override {
        const std::size_t got = std::min(size, left);
        std::memset(to, 'x', got);
        left -= got;
        return got;
    }
    std::size_t left;
};

} // namespace

TEST_CASE("a line longer than the limit is refused without reading to its end") {
    constexpr std::size_t most = 64u << 10;
    std::size_t lines = 0;
    const auto count = [&lines](std::string_view) { ++lines; };
    constexpr std::size_t endless = 256u << 20;
    OneLine source(endless);
    CHECK_THROWS_WITH(importing::for_each_line(source, count), "line 1 is longer than 64 KiB");
    CHECK(endless - source.left <= 2u << 20);
    OneLine fits(most);
    importing::for_each_line(fits, count);
    CHECK(lines == 1);
    const std::string longest(most, 'x');
    const std::string text = longest + "\n" + longest + "x\n";
    MemorySource second(std::as_bytes(std::span(text)));
    CHECK_THROWS_WITH(importing::for_each_line(second, count), "line 2 is longer than 64 KiB");
    CHECK(lines == 2);
    std::string many; // lines that read blocks cut anywhere
    for (std::size_t i = 0; i < 200; ++i) {
        many += std::string(20'000 + i, 'x') + "\n";
    }
    MemorySource blocks(std::as_bytes(std::span(many)));
    std::size_t next = 20'000;
    importing::for_each_line(blocks,
                             [&next](std::string_view line) { REQUIRE(line.size() == next++); });
    CHECK(next == 20'200);
}

TEST_CASE("regions of a log are never confused, and more than 65,535 are refused") {
    constexpr std::size_t most = 65'535;
    std::string text;
    for (std::size_t i = 0; i < most; ++i) {
        text += log_line(false, 0, 0x1c09'0000, 0, 4, fmt::format("region with number {}", i));
    }
    const auto log = parse(text);
    REQUIRE((log.lines.size() == most && log.regions.size() == most));
    CHECK(log.lines[0].region == 0);
    CHECK(log.lines[most - 1].region == most - 1);
    CHECK(log.regions[most - 1] == "region with number 65534");
    CHECK_THROWS_WITH(parse(text + log_line(false, 0, 0x1c09'0000, 0, 4, "more")),
                      "line 65536: more than 65535 regions");
    CHECK(parse(text + log_line(false, 0, 0x1c09'0000, 0, 4, "region with number 7"))
              .lines.back()
              .region == 7);
}
