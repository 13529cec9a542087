// What `mmioscope gen` makes of a device's accesses.
#include "analysis/replay.hpp"
#include "catch_2_or_3.hpp"
#include "reading/drive.hpp"
#include "reading_all.hpp"
#include "system/byte_source.hpp"
#include "trace_text.hpp"

#include <algorithm>
#include <sstream>

using namespace mmioscope;
using namespace mmioscope::test;

namespace {

constexpr char devices[] = "device serial0 0x1c090000 0x1000\n"
                           "device mmc@50000 0x1c050000 0x1000\n";

/// The steps of a trace as one line each: "write 2 0x30 0x101".
struct Steps {
    explicit Steps(const std::string& lines,
                   analysis::Replay::Limits limits = {100'000, 1'000'000'000, 2000}) {
        std::istringstream text(devices + lines);
        const FileDescriptor file = temporary_file();
        write_trace(read_trace_text(text), file.get());
        const Bytes bytes = contents(file.get());
        MemorySource source(bytes);
        reading::TraceOptions options;
        options.report = [](const std::string& text) { FAIL(text); };
        reading::Trace trace(options, source);
        analysis::Replay replay(limits, trace.reader().info()->counter_frequency);
        reading::drive(trace, {&replay});
        constexpr const char* kinds[] = {"write", "read", "check", "poll", "delay"};
        for (const analysis::Step& step : replay.steps()) {
            const char* const kind = kinds[static_cast<int>(step.kind)];
            lines_.push_back(
                step.size == 0
                    ? fmt::format("{} {}", kind, step.value)
                    : fmt::format("{} {} {:#x} {:#x}{}", kind, step.size, step.offset, step.value,
                                  step.mask == 0 ? "" : fmt::format(" {:#x}", step.mask)));
        }
        other = replay.other();
        undoable = replay.undoable();
        first_undoable = replay.first_undoable();
        left_out = replay.left_out();
    }
    bool operator==(const std::vector<std::string>& lines) const { return lines_ == lines; }

    std::vector<std::string> lines_;
    std::string other;
    std::uint64_t undoable, first_undoable, left_out;
};

} // namespace

TEST_CASE("a read is a check only if it gives what was last written there") {
    const Steps steps("0.0 cpu0 R4 0x1c050000 0x0\n"        // nothing was written
                      "0.00001 cpu0 W4 0x1c050000 0x11\n"   //
                      "0.00002 cpu1 R4 0x1c050000 0x11\n"   // on another CPU
                      "0.00003 cpu0 R4 0x1c050000 0x13\n"   // another value
                      "0.00004 cpu0 R2 0x1c050000 0x11\n"   // another size
                      "0.00005 cpu0 R4 0x1c050004 0x11\n"   // another offset
                      "0.00006 cpu0 W4 0x1c050000 0x0\n"    //
                      "0.00007 cpu0 R4 0x1c050000 0x11\n"); // no longer
    CHECK(steps == std::vector<std::string>{
                       "read 4 0x0 0x0", "write 4 0x0 0x11", "check 4 0x0 0x11", "read 4 0x0 0x13",
                       "read 2 0x0 0x11", "read 4 0x4 0x11", "write 4 0x0 0x0", "read 4 0x0 0x11"});
}

TEST_CASE("a pause is a delay from the end of the access before it") {
    const Steps steps("0.0 cpu0 W4 0x1c050000 0x1 duration=200\n"
                      "0.00029 cpu0 W4 0x1c050000 0x2\n" // 90 us after its end
                      "0.0004 cpu0 W4 0x1c050000 0x3\n"  // 110 us
                      "1.5 cpu0 W4 0x1c050000 0x4\n");   // idle
    CHECK(steps.lines_.size() == 5);
    CHECK(steps.lines_[2].starts_with("delay 1"));
    CHECK(steps.lines_[3] == "write 4 0x0 0x3");
    CHECK(steps.lines_[4] == "write 4 0x0 0x4");
}

namespace {

// A loop at 0xc0500020 that reads 0x1c050034 until bit 3 is 1, with `more` in each turn.
std::string loop(const std::string& more) {
    std::string lines;
    for (unsigned turn = 0; turn < 5; ++turn) {
        lines += fmt::format("0.00{}0 cpu0 R4 0x1c050034 {} pc=0xc0500020\n", turn,
                             turn == 4 ? "0x18" : "0x10");
        lines += turn == 4 || more.empty() ? "" : fmt::format("0.00{}1 cpu0 {}\n", turn, more);
    }
    return lines + "0.0041 cpu0 W4 0x1c050038 0x8 pc=0xc0500030\n";
}

} // namespace

TEST_CASE("a loop that only reads is a poll") {
    CHECK(Steps(loop("")) == std::vector<std::string>{"poll 4 0x34 0x8 0x8", "write 4 0x38 0x8"});
}

TEST_CASE("a delay after a poll is none of the poll's") {
    std::string later = loop("");
    later.replace(later.find("0.0041"), 6, "0.0050");
    CHECK(Steps(later) ==
          std::vector<std::string>{"poll 4 0x34 0x8 0x8", "delay 999", "write 4 0x38 0x8"});
}

TEST_CASE("a loop that writes, or reads another register, stays as it was") {
    for (const char* more :
         {"W4 0x1c050030 0x1 pc=0xc0500024", "R4 0x1c050030 0x1 pc=0xc0500024"}) {
        const Steps steps(loop(more));
        CAPTURE(more);
        CHECK(std::ranges::none_of(
            steps.lines_, [](const std::string& line) { return line.starts_with("poll"); }));
        CHECK(std::ranges::count_if(steps.lines_, [](const std::string& line) {
                  return line.starts_with("read 4 0x34");
              }) == 5);
    }
}

TEST_CASE("accesses to another device, and beyond the limit, are told") {
    const Steps steps("0.0 cpu0 W4 0x1c050000 0x1\n"
                      "0.00001 cpu0 W4 0x1c090000 0x2\n"
                      "0.00002 cpu0 R4 0x1c050004 0x0\n"
                      "0.00003 cpu0 W4 0x1c050008 0x3\n",
                      {100'000, 1'000'000'000, 2});
    CHECK(steps.lines_.size() == 2);
    CHECK(steps.other == "serial0");
    CHECK(steps.left_out == 1);
}

TEST_CASE("accesses that cannot be done again are no steps, and are told") {
    const Steps steps("0.0 cpu0 W4 0x1c050004 0x0\n"
                      "0.00001 cpu0 W4 0x1c050004 ?\n"
                      "0.00002 cpu0 R4 0x1c050004 0x0\n" // no check: it was written since
                      "0.00003 cpu0 W16 0x1c050010 0x1\n"
                      "0.00004 cpu0 W4 0x1c050008 0x0\n"
                      "0.00005 cpu0 R4 0x1c050008 ?\n");
    CHECK(steps == std::vector<std::string>{"write 4 0x4 0x0", "read 4 0x4 0x0", "write 4 0x8 0x0",
                                            "read 4 0x8 0x0"});
    CHECK(steps.undoable == 2);
    CHECK(steps.first_undoable == 2);
}

TEST_CASE("names in the text of steps cannot end a comment") {
    const char* const name = "*/ evil \x1b[1m\n(*/";
    const Register reg{name, 0, 4, "", {{name, 0, 8, {{1, name}}}}};
    analysis::Step step;
    step.size = 4;
    step.value = step.event = 1;
    step.reg = &reg;
    step.function = name;
    for (const analysis::ReplayFormat& format : analysis::replay_formats()) {
        const TextBuffer made = format.text({"a*/b\n", 0x1000, "*/t.mmio"}, std::span(&step, 1));
        const std::string text(made.view());
        CAPTURE(text);
        CHECK(text.find('\x1b') == std::string::npos);
        if (format.name == "c") { // as many ends as beginnings
            std::size_t begun = 0, ended = 0;
            for (std::size_t at = 0; (at = text.find("/*", at)) != text.npos; ++at, ++begun) {
            }
            for (std::size_t at = 0; (at = text.find("*/", at)) != text.npos; ++at, ++ended) {
            }
            CHECK(begun == ended);
        } else {
            CHECK(text.find("\n(*/") == std::string::npos);
        }
    }
}
