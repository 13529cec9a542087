// Lines that fit a terminal.
#include "catch_2_or_3.hpp"
#include "given_event.hpp"
#include "records.hpp"
#include "view/line.hpp"

#include <string>

using namespace mmioscope;
using namespace mmioscope::test;

namespace {

const Register control{
    "GICC_CTLR_OF_SOME_LENGTH", 0x10, 4, "", {{"EnableGroup0", 0, 1, {}}, {"Mode", 1, 4, {}}}};
const Location code{"a_function_of_some_length", 0x20, "module", {}};
const Location caller{"its_caller", 0, "", {}};
const Task task{7, 7, "kworker/1:1"};

view::LineStyle style(std::size_t width) {
    view::LineStyle style;
    style.frequency = 1'000'000;
    style.width = width;
    style.short_names = {{"interrupt-controller@2c001000[1]", "gic.cpu"}, {"serial0", "serial0"}};
    return style;
}

Event event(abi::RecordType type = abi::RecordType::access) {
    abi::Record record = access(1, 5, 1'000'000);
    record.type = type;
    record.access = abi::encode_access(true, 2);
    record.value = 0x13;
    record.duration = 12;
    return given_event(record, {.nanoseconds = 1'000'000,
                                .device = "interrupt-controller@2c001000[1]",
                                .offset = 0x10,
                                .reg = &control,
                                .code = &code,
                                .caller = &caller,
                                .task = &task,
                                .text = "external abort"});
}

std::string line(const view::LineStyle& style, const Event& event, std::string_view more = {}) {
    TextBuffer text;
    view::LineFormat(style).append(text, event, more);
    return std::string(text.view());
}

std::string titles(const view::LineStyle& style) {
    return view::LineFormat(style).titles();
}

} // namespace

TEST_CASE("fitted line: columns are aligned with their titles, and longer texts but the register "
          "are cut") {
    CHECK(titles(style(120)) ==
          "     seconds cpu  rw device  register       value      fields                    "
          "function <- caller [task]");
    CHECK(line(style(120), event()) ==
          "    0.001000 cpu1 W4 gic.cpu GICC_CTLR_OF_SOME_LENGTH 0x00000013 EnableGroup0=.. "
          "a_function_of_some_le.. [kworker/1:1:7]");
    CHECK(titles(style(80)) ==
          "     seconds cpu  rw device  register   value      fields     function <- call..");
    CHECK(line(style(80), event()) ==
          "    0.001000 cpu1 W4 gic.cpu GICC_CTLR_OF_SOME_LENGTH 0x00000013 EnableGroup0=..");
}

TEST_CASE("fitted line: fields and names are not cut if there is room") {
    CHECK(line(style(200), event()) ==
          "    0.001000 cpu1 W4 gic.cpu GICC_CTLR_OF_SOME_LENGTH 0x00000013 "
          "EnableGroup0=1 Mode=9                           "
          "a_function_of_some_length+0x20 [module] <- its_caller [kworker/1:1:7]");
}

TEST_CASE("fitted line: a count is never cut, and does not lengthen the line") {
    for (const std::size_t width : {80u, 100u, 120u}) {
        const std::string text = line(style(width), event(), "x905, last 0xa");
        CHECK_THAT(text, Catch::EndsWith("  x905, last 0xa"));
        CHECK(text.size() <= width);
    }
}

TEST_CASE("fitted line: errors are printed whole") {
    CHECK_THAT(line(style(80), event(abi::RecordType::fault)), Catch::EndsWith("  external abort"));
    CHECK_THAT(line(style(80), event(abi::RecordType::begin)),
               Catch::EndsWith("  (begun, no end recorded)"));
    abi::Record gap = access(0, 1, 5);
    gap.type = abi::RecordType::gap;
    gap.value = 123'456'789'012;
    CHECK(line(style(40), given_event(gap)) == "    0.000000 cpu0 123456789012 records \n"
                                               "                  lost, from number 1 on");
}

TEST_CASE("fitted line: colours take no room") {
    view::LineStyle colored = style(80);
    colored.color = true;
    std::string text = line(colored, event());
    for (std::size_t at = text.find('\x1b'); at != std::string::npos; at = text.find('\x1b')) {
        text.erase(at, text.find('m', at) + 1 - at);
    }
    CHECK(text == line(style(80), event()));
}

TEST_CASE("fitted line: the duration of an access has its column") {
    view::LineStyle timed = style(120);
    timed.duration = true;
    CHECK_THAT(line(timed, event()), Catch::EndsWith(" <0.000012000>"));
    CHECK(line(timed, event()).size() <= 120);
    CHECK_THAT(titles(timed), Catch::EndsWith(" <took>"));
}

TEST_CASE("fitted line: a cut never splits a character") {
    const Location umlauts{"f\u00fcnktiön_mit_ümläuten_und_so_weiter", 0, "", {}};
    Event there = event();
    there = given_event(there.record, {.device = "serial0", .code = &umlauts});
    const std::string text = line(style(80), there);
    CHECK_THAT(text, Catch::EndsWith(".."));
    CHECK(text.find("\u00fcnktiön_mit_üm") != std::string::npos);
}

TEST_CASE("fitted line: a line is printed however narrow the terminal is") {
    for (std::size_t width = 1; width < 80; ++width) {
        CHECK_THAT(line(style(width), event()), Catch::StartsWith("    0.001000 cpu1"));
        CHECK_THAT(titles(style(width)), Catch::Contains("seconds"));
    }
}
