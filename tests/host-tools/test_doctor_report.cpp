// What `record` makes of the self-test's report.
#include "catch_2_or_3.hpp"
#include "record/doctor_report.hpp"

#include <algorithm>
#include <string_view>

using namespace mmioscope;

namespace {

record::DoctorReport report_of(std::string_view text) {
    record::DoctorReport report;
    for (const char& c : text) { // bytes come one by one
        report.feed(std::as_bytes(std::span(&c, 1)));
    }
    return report;
}

constexpr std::string_view good =
    "doctor: board: ok: virt\r\n"
    "mmioscope: virt, 2 CPUs, shadow engine\r\n"
    "doctor: ACTLR.SMP of CPU 0: note: clear; set it\r\n"
    "mmioscope: stop: doctor: this board can trace, engine shadow\r\n";
constexpr std::string_view end = "mmioscope: end of report\r\n";

} // namespace

TEST_CASE("a doctor's report ends with one line about the board") {
    const auto report = report_of(std::string(good) + std::string(end));
    CHECK(report.begun());
    CHECK(report.ended());
    CHECK(report.can_trace());
    CHECK(report.text() == "this board can trace, engine shadow\n");
}

TEST_CASE("checks that failed come before that line, and the board cannot trace") {
    const auto report =
        report_of("doctor: CNTFRQ of CPU 1: FAILED: 0 Hz; set it\r\n" + std::string(good));
    CHECK(!report.can_trace());
    CHECK(report.text().starts_with("doctor: CNTFRQ of CPU 1: FAILED: 0 Hz; set it\n"));
    CHECK(!report_of("mmioscope: stop: doctor: this board cannot trace: CNTFRQ of CPU\r\n")
               .can_trace());
}

TEST_CASE("a hypervisor that stops by itself is a report, too") {
    const auto report = report_of("mmioscope: stop: too little memory\r\n" + std::string(end));
    CHECK(report.ended());
    CHECK(!report.can_trace());
    CHECK(report.text() == "this board cannot trace: too little memory\n");
}

TEST_CASE("a report that does not end names the check in which the board hangs") {
    CHECK(report_of("doctor: board: ok: virt\r\ndoctor: PSCI: ").text() ==
          "this board cannot trace: its report ends in the check 'PSCI'\n");
    CHECK(report_of("doctor: board: ok: virt\r\n").text() ==
          "this board cannot trace: its report ends behind the check 'board'\n");
    const auto first = report_of("U-Boot 2023.01\r\ndoctor: clock: ");
    CHECK(first.begun());
    CHECK(first.text() == "this board cannot trace: its report ends in the check 'clock'\n");
}

TEST_CASE("what follows a report's end changes nothing") {
    const std::string stop = "mmioscope: stop: no device tree\r\n" + std::string(end);
    const auto report = report_of(stop + std::string(good) + std::string(end));
    CHECK(report.ended());
    CHECK(!report.can_trace());
    CHECK(report.text() == "this board cannot trace: no device tree\n");
    CHECK(report_of("doctor: PSCI: ok: 1.0\r\n" + std::string(end) + "doctor: GIC: ").text() ==
          "this board cannot trace: its report ends behind the check 'PSCI'\n");
}

TEST_CASE("a wire that reports failures for ever takes no more memory") {
    std::string lines;
    for (unsigned n = 0; n < 1000; ++n) {
        lines += "doctor: GIC: FAILED: 0x3ff; set it\r\n";
    }
    const std::string text = report_of(lines).text();
    CHECK(std::ranges::count(text, '\n') == 101);
}

TEST_CASE("other bytes are no report, however many they are") {
    CHECK(!report_of("U-Boot 2023.01\r\nmmioscope: end of report\r\nxdoctor: board: ok: x\r\n")
               .begun());
    const std::string noise(100'000, '\x1b');
    CHECK(report_of(noise + "\n" + std::string(good)).text() ==
          "this board can trace, engine shadow\n");
    CHECK(!report_of(std::string(100'000, 'x') + "doctor: board: ok: x\n").begun());
}
