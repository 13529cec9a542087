// The guest's kernel log on the trace's time line.
#include "analysis/dmesg.hpp"
#include "records.hpp"
#include "trace_text.hpp"

#include <sstream>

using namespace mmioscope;
using namespace mmioscope::test;

namespace {

std::vector<analysis::DmesgLine> log_of(const std::string& text) {
    std::istringstream in(text);
    return analysis::read_dmesg(in);
}

analysis::DmesgOffset offset_of(const std::vector<analysis::DmesgLine>& log,
                                const std::string& trace) {
    analysis::DmesgOffset offset(log);
    std::istringstream in("device uart 0x1000 0x1000\ndevice other 0x2000 0x1000\n" + trace);
    const TraceText text = read_trace_text(in);
    for (const abi::Record& record : text.records) {
        offset.add(given_event(
            record, {.nanoseconds = record.time * 1000,
                     .offset = abi::physical_address(record) - text.regions[record.device].base}));
    }
    return offset;
}

} // namespace

TEST_CASE("lines of a kernel log begin with printk's time") {
    const auto lines =
        log_of("[    0.000000] Booting Linux\r\n<6>[   12.345678] second [x]\n"
               "[ 7] no time\nlogin: \n[    1.5x] no\n[1.000001][    T1] of a task\n");
    REQUIRE(lines.size() == 3);
    CHECK(lines[0].text == "[    0.000000] Booting Linux");
    CHECK(lines[1].nanoseconds == 12'345'678'000);
    CHECK(lines[1].text == "[   12.345678] second [x]");
    CHECK(lines[2].nanoseconds == 1'000'001'000);
}

TEST_CASE("printk's time may stand behind other words, or be a number of /dev/kmsg") {
    const auto lines = log_of("Nov 28 00:00:01 host kernel: [    4.100000] of syslog\n"
                              "kern  :info  : [    4.200000] of dmesg -x\n"
                              "[    4.300000 <    0.100000>] of dmesg -d\n"
                              "6,339,4400000,-;of kmsg\n SUBSYSTEM=pci\n"
                              "4,340,4500000,-,caller=T1;of a task\n"
                              "6,341,-;no\n6,342,99999999999999999,-;no\n1,2,3\nx: [1]\n");
    REQUIRE(lines.size() == 5);
    CHECK(lines[0].text == "[    4.100000] of syslog");
    CHECK(lines[1].nanoseconds == 4'200'000'000);
    CHECK(lines[2].nanoseconds == 4'300'000'000);
    CHECK(lines[3].text == "[    4.400000] of kmsg");
    CHECK(lines[4].text == "[    4.500000] of a task");
}

TEST_CASE("the fastest line on the console shows where printk's time begins") {
    const auto log = log_of("[    0.000000] early\n[    1.000000] quick\n[    1.500000] slow\n"
                            "[    2.000000] not there\n");
    const auto offset = offset_of(log, "text 3.0 cpu0 uart [    0.000000] early\\n\n"
                                       "text 3.1 cpu0 uart [    1.000000] qui\n"
                                       "text 3.2 cpu0 other noise of another device\\n\n"
                                       "text 3.3 cpu1 uart ck\\n\n"
                                       "text 3.9 cpu0 uart [    1.500000] slow\\n\n"
                                       "text 4.9 cpu0 uart [    2.000000] something else\\n\n");
    CHECK(offset.lines_seen() == 2);
    REQUIRE(offset.estimate());
    CHECK(*offset.estimate() == 2'100'000'000);
    CHECK(offset.half_within() == 300'000'000);
}

TEST_CASE("a line on the console after a thousand million seconds is ignored") {
    const auto offset = offset_of(log_of("[    1.000000] one\n[    2.000000] two\n"),
                                  "text 3.0 cpu0 uart [    1.000000] one\\n\n"
                                  "text 1e10 cpu0 uart [    2.000000] two\\n\n");
    CHECK(offset.lines_seen() == 1);
    CHECK(offset.estimate() == 2'000'000'000);
}

TEST_CASE("nothing is estimated without a line on the console") {
    const auto offset = offset_of(log_of("[    0.000000] no clock\n[    1.000000] one\n"),
                                  "text 2.0 cpu0 uart [    0.000000] no clock\\n\n"
                                  "text 3.0 cpu0 uart [    1.000001] one\\n\n");
    CHECK(!offset.estimate());
}
