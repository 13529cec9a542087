// polls: loops that read a register until it changes, and loops that only look like it.
#include "analysis/merging.hpp"
#include "analysis/poll.hpp"
#include "reading/drive.hpp"
#include "reading/trace.hpp"
#include "records.hpp"
#include "table/table.hpp"
#include "trace_text.hpp"

#include <fmt/format.h>

#include <functional>

using namespace mmioscope;
using namespace mmioscope::test;

namespace {

constexpr char head[] = "device mmc@50000 0x1c050000 0x1000 arm,pl180\n"
                        "device gic@2c001000 0x2c001000 0x1000 arm,cortex-a15-gic\n"
                        "device gic@2c001000[1] 0x2c002000 0x1000\n"
                        "code 0xbf000000 0x1000 wait armmmci\n"
                        "code 0xbf001000 0x1000 handler armmmci\n";
constexpr std::uint32_t status = 0x1c050034, command = 0x1c05000c, fifo = 0x1c050080,
                        count = 0x1c050048, iar = 0x2c00200c, eoir = 0x2c002010;
constexpr std::uint32_t wait = 0xbf000000, handler = 0xbf001000, other = 0xc0500000;
constexpr std::uint64_t sent = 0x80;

/// Accesses, one each microsecond; of one CPU and one stack until somebody says otherwise.
class Script {
public:
    Script& read(std::uint32_t pc, std::uint32_t address, std::uint64_t value) {
        return add("R", pc, address, fmt::format("{:#x}", value));
    }
    Script& write(std::uint32_t pc, std::uint32_t address, std::uint64_t value) {
        return add("W", pc, address, fmt::format("{:#x}", value));
    }
    Script& unknown(std::uint32_t pc, std::uint32_t address) { return add("R", pc, address, "?"); }
    Script& on(unsigned cpu, std::uint32_t stack) {
        cpu_ = cpu;
        stack_ = stack;
        return *this;
    }
    Script& pause(std::uint64_t microseconds) {
        time_ += microseconds;
        return *this;
    }
    /// So many reads of Status at `pc`.
    Script& reads(unsigned times, std::uint64_t value, std::uint32_t pc = wait) {
        for (unsigned i = 0; i < times; ++i) {
            read(pc, status, value);
        }
        return *this;
    }
    /// What no loop is.
    Script& leave() { return write(other, command, time_); }
    const std::string& text() const { return lines_; }

private:
    Script& add(const char* direction, std::uint32_t pc, std::uint32_t address,
                const std::string& value) {
        lines_ += fmt::format("{}.{:06} cpu{} {}4 {:#x} {} pc={:#x} sp={:#x} mode=0x13\n",
                              time_ / 1'000'000, time_ % 1'000'000, cpu_, direction, address, value,
                              pc, stack_);
        ++time_;
        return *this;
    }

    std::string lines_;
    std::uint64_t time_ = 0;
    unsigned cpu_ = 0;
    std::uint32_t stack_ = 0xc1602000;
};

/// Calls `then` while the trace is still open.
void read_through(
    const Script& script, reading::Consumer& consumer, const std::function<void()>& then = [] {}) {
    TextTrace trace(head + script.text());
    trace.drive(consumer);
    then();
}

/// A line for each poll: "poll Status x5 until CmdSent=1".
class Found final : public reading::Consumer {
public:
    void add(const Event& event) override { finder_.add(event); }
    void finish() override { finder_.cut_all(); }
    std::string text;

private:
    analysis::PollFinder finder_{[this](analysis::Thread, const analysis::Poll& poll) {
        text += fmt::format("{} {} x{} {} {}\n", analysis::kind_text(poll.kind),
                            poll.read.reg() ? poll.read.reg()->name : "?", poll.reads,
                            analysis::end_text(poll.end), analysis::condition_text(poll));
    }};
};

std::string found(const Script& script) {
    Found found;
    read_through(script, found);
    return found.text;
}

const std::string until_sent = "poll Status x5 value CmdSent=1\n";

} // namespace

TEST_CASE("a poll ends when the register gets another value") {
    CHECK(found(Script().reads(4, 0x1000).reads(1, 0x1000 | sent).leave()) == until_sent);
    CHECK(found(Script().reads(2, 0).reads(1, sent).leave()) == "poll Status x3 value CmdSent=1\n");
    CHECK(found(Script().reads(1, 0).reads(1, sent).leave()) == "");
    // A bit that goes away, one that has no name, a field, a part of a field.
    CHECK(found(Script().reads(4, 0x1000).reads(1, 0).leave()) ==
          "poll Status x5 value TxActive=0\n");
    CHECK(found(Script().reads(4, 0).reads(1, 0x4000'0000).leave()) ==
          "poll Status x5 value &0x40000000=0x40000000\n");
    const auto counted = [](std::uint64_t value) {
        Script script;
        for (int i = 0; i < 4; ++i) {
            script.read(wait, count, 0);
        }
        return found(script.read(wait, count, value).leave());
    };
    CHECK(counted(0x7fff) == "poll FifoCnt x5 value DataCount=0x7fff\n");
    CHECK(counted(0x2) == "poll FifoCnt x5 value DataCount&0x2=2\n");
}

TEST_CASE("a poll is given up when the register stays") {
    CHECK(found(Script().reads(8, 0x1000).leave()) == "poll Status x8 given up \n");
    CHECK(found(Script().reads(7, 0x1000).leave()) == "");
    CHECK(found(Script().reads(8, 0x1000)) == "poll Status x8 unended \n"); // the trace ends
    CHECK(found(Script().reads(4, 0x1000).reads(1, sent)) ==
          "poll Status x5 value TxActive=0 CmdSent=1\n");
}

TEST_CASE("bits that come and go are not what a poll awaits") {
    Script script;
    for (int i = 0; i < 8; ++i) {
        script.reads(1, i % 3 == 0 ? 0x1000 : 0);
    }
    CHECK(found(Script(script).reads(1, sent).leave()) == "poll Status x9 value CmdSent=1\n");
    CHECK(found(Script(script).leave()) == "poll Status x8 given up \n");
}

TEST_CASE("what a counter gives is no status") {
    Script script;
    for (unsigned i = 0; i < 9; ++i) { // the last one has a bit that none before has
        script.reads(1, i);
    }
    CHECK(found(script.leave()) == "");
}

TEST_CASE("a loop may be unrolled, and read other registers, too") {
    const unsigned period = GENERATE(1u, 2u, 3u, 7u, 16u);
    Script unrolled, alternating;
    for (unsigned i = 0; i < 3 * period; ++i) {
        unrolled.read(wait + 4 * (i % period), status, 0);
        alternating.read(wait + 4 * (i % period),
                         i % period == 0 ? status : command + 4 * (i % period % 3), 1);
    }
    unrolled.read(wait, status, sent).leave();
    alternating.read(wait, status, sent | 1).leave();
    CHECK(found(unrolled) == fmt::format("poll Status x{} value CmdSent=1\n", 3 * period + 1));
    CHECK(found(alternating) == "poll Status x4 value CmdSent=1\n");
}

TEST_CASE("a loop of more than 16 accesses is none") {
    Script script;
    for (unsigned i = 0; i < 17 * 4; ++i) {
        script.read(wait + 4 * (i % 17), i % 17 == 0 ? status : command + 4 * (i % 17 % 3), 0);
    }
    CHECK(found(script.read(wait, status, sent).leave()) == "");
}

TEST_CASE("others may come in between") {
    SECTION("another stack on the same CPU, and on another one") {
        Script script;
        for (int i = 0; i < 4; ++i) {
            script.reads(1, 0x1000).on(0, 0xc1608000).read(other, command, 5);
            script.on(1, 0xc160a000).write(other, command, 6).on(i % 2, 0xc1602000);
        }
        CHECK(found(script.reads(1, 0x1000 | sent).leave()) == until_sent);
    }
    SECTION("a handler on the same stack, which reads the register, too") {
        Script script;
        for (int i = 0; i < 4; ++i) {
            script.reads(1, 0x1000).read(other, iar, 41);
            script.read(handler, status, 5).write(other, eoir, 41);
        }
        CHECK(found(script.reads(1, 0x1000 | sent).leave()) == until_sent);
    }
    SECTION("but accesses of its own are not others") {
        Script script;
        for (int i = 0; i < 4; ++i) {
            script.reads(1, 0x1000).write(other + 4 * static_cast<unsigned>(i * i), command, 0);
        }
        CHECK(found(script.reads(1, 0x1000 | sent).leave()) == "");
    }
}

TEST_CASE("each run of a handler begins anew") {
    Script script;
    for (int i = 0; i < 20; ++i) {
        script.read(other, iar, 41)
            .read(handler, status, i == 19 ? sent : 0)
            .write(other, eoir, 41);
    }
    CHECK(found(script.leave()) == "");
    script.read(other, iar, 41);
    script.reads(4, 0x1000, handler).reads(1, 0x1000 | sent, handler).write(other, eoir, 41);
    CHECK(found(script) == until_sent);
}

TEST_CASE("what is half a second apart is no loop") {
    const std::uint64_t pause = GENERATE(400'000u, 600'000u);
    Script script;
    for (int i = 0; i < 4; ++i) {
        script.reads(1, 0x1000).pause(pause);
    }
    CHECK(found(script.reads(1, 0x1000 | sent).leave()) == (pause < 500'000 ? until_sent : ""));
}

TEST_CASE("a loop that carries data is a handshake") {
    Script script;
    for (unsigned i = 0; i < 10; ++i) {
        script.reads(1, 0x1000).write(wait + 4, fifo, 1 + i * i * i);
    }
    CHECK(found(Script(script).leave()) == "handshake Status x10 data over \n");
    CHECK(found(Script(script).reads(1, sent).leave()) ==
          "handshake Status x11 value TxActive=0 CmdSent=1\n");
}

TEST_CASE("calls that do the same again, slowly, are no handshake") {
    const std::uint64_t pause = GENERATE(1'000u, 3'000u);
    const bool data = GENERATE(false, true);
    Script script;
    for (unsigned i = 0; i < 10; ++i) {
        script.reads(1, 0x1000).write(wait + 4, fifo, data ? i * i * i : 0).pause(pause);
    }
    CHECK((found(script.leave()) != "") == (pause == 1'000));
}

TEST_CASE("calls that read a register before they write it do not wait for it") {
    const auto calls = [](std::uint32_t written) {
        Script script;
        for (unsigned i = 0; i < 12; ++i) {
            script.read(wait, command, 0).write(wait + 4, fifo, i).write(wait + 8, written, 0x451);
        }
        return found(script.leave());
    };
    CHECK(calls(command) == "");
    CHECK_THAT(calls(status), Catch::StartsWith("handshake Command x12"));
}

TEST_CASE("a register of data is not polled") {
    Script script;
    for (unsigned i = 0; i < 64; ++i) {
        script.read(other + 4 * (i * i % 97), fifo, i * i * 77);
    }
    for (int i = 0; i < 20; ++i) {
        script.read(wait, fifo, 0);
    }
    CHECK(found(script.leave()) == "");
}

TEST_CASE("values that are not known are not polled") {
    Script script;
    for (int i = 0; i < 20; ++i) {
        script.unknown(wait, status);
    }
    CHECK(found(script.leave()) == "");
}

TEST_CASE("a loop around a loop is one") {
    Script script;
    for (unsigned i = 0; i < 10; ++i) { // three reads each time
        script.reads(3, 0x1000).write(wait + 4, fifo, 1 + i * i * i);
    }
    CHECK(found(script.leave()) == "handshake Status x30 data over \n");
}

TEST_CASE("more threads than are kept forget the oldest") {
    Script script;
    script.reads(8, 0);
    for (unsigned i = 0; i < 1000; ++i) {
        script.on(0, 0xc2000000 + i * 0x2000).read(other, command, 0);
    }
    script.on(0, 0xc1602000).reads(1, sent).leave();
    CHECK(found(script) == "poll Status x8 given up \n");
}

namespace {

/// CSV, and the line for people behind it.
std::string table_of(const Script& script, std::size_t most = 10) {
    std::string text;
    analysis::PollTable polls;
    read_through(script, polls, [&] {
        const table::Table table = polls.table(most);
        text = table::csv(std::span(&table, 1)) + table.closing;
        text += fmt::format("{}", fmt::join(table.left_out, ""));
    });
    return text;
}

} // namespace

TEST_CASE("the table has a line for each register and function") {
    Script script;
    script.reads(4, 0).reads(1, sent | 0x1000).leave();  // what both polls have in common
    script.reads(9, 0).reads(1, sent | 0x10000).leave(); // was awaited
    script.reads(20, 0).leave();                         // given up
    script.reads(4, 0x1000, handler).reads(1, 0, handler).leave();
    CHECK(table_of(script) ==
          "device,register,condition,bits,value,function,caller,class,times,reads,total_ns,"
          "longest_ns,by_value,given_up,data_over,unended,longest_event\n"
          "mmc@50000,Status,CmdSent=1,0x80,0x80,wait [armmmci],(unknown),poll,3,35,32000,19000,"
          "2,1,0,0,18\n"
          "mmc@50000,Status,TxActive=0,0x1000,0x0,handler [armmmci],(unknown),poll,1,5,4000,4000,"
          "1,0,0,0,39\n");
    CHECK(table_of(script, 1).ends_with("18\n... 1 more"));
}

TEST_CASE("lines beyond the first 2048 are left out, and their loops counted") {
    Script script;
    for (unsigned i = 0; i < 2060; ++i) {
        script.reads(3, 0, 0xc0600000 + 4 * i).reads(1, sent, 0xc0600000 + 4 * i).leave();
    }
    const std::string table = table_of(script, 5000);
    CHECK(std::count(table.begin(), table.end(), '\n') == 1 + 2048);
    CHECK_THAT(table, Catch::EndsWith("\n... 12 loops of lines beyond the first 2048 are left out: "
                                      "choose fewer (-F, --cpu, --from, --to)"));
}

TEST_CASE("a register that turns out to carry data has no line") {
    Script script;
    script.read(other, fifo, 1);
    for (int i = 0; i < 20; ++i) {
        script.read(wait, fifo, 0);
    }
    script.leave();
    for (unsigned i = 0; i < 64; ++i) {
        script.read(other + 4 * (i * i % 97), fifo, i * i * 77);
    }
    CHECK(table_of(script).find("FIFO") == std::string::npos);
}

namespace {

/// A line for each event: "3 R", and "1 poll x5 last 7: TEXT".
class Lines final : public reading::Consumer {
public:
    void add(const Event& event) override {
        text += fmt::format("{} {}\n", event.number, abi::is_write(event.record) ? "W" : "R");
    }
    void add_derived(const DerivedEvent& derived) override {
        text += fmt::format("{} {} x{} last {}: {}\n", derived.first.number, derived.kind,
                            derived.count, derived.last_number, derived.text);
    }
    std::string text;
};

} // namespace

TEST_CASE("print --fold shows a poll as one line, and all else as it is") {
    Script script;
    script.leave().reads(2, 0x1000).on(1, 0xc160a000).write(other, command, 6);
    script.on(0, 0xc1602000).reads(2, 0x1000).reads(1, 0x1000 | sent).leave();
    Lines lines;
    analysis::Fold fold(lines);
    read_through(script, fold);
    CHECK(lines.text == "1 W\n2 poll x5 last 7: poll x5, 0.01 ms, until CmdSent=1\n4 W\n8 W\n");
}

TEST_CASE("print --fold begins a poll of several registers where the polled one is read") {
    Script script;
    for (int i = 0; i < 9; ++i) {
        script.write(wait + 4, command, 0).reads(1, 0);
    }
    Lines lines;
    analysis::Fold fold(lines);
    read_through(script.leave(), fold);
    CHECK(lines.text == "2 poll x18 last 18: poll x18, 0.02 ms, given up\n19 W\n");
}

TEST_CASE("print --fold holds a bounded number of events") {
    Script script;
    Lines lines;
    analysis::Fold fold(lines);
    read_through(script.reads(20'000, 0).leave(), fold);
    // Pieces; none of the accesses is missing.
    CHECK(lines.text == "1 poll x8193 last 8193: poll x8193, 8.19 ms, unended\n"
                        "8194 poll x8193 last 16386: poll x8193, 8.19 ms, unended\n"
                        "16387 poll x3614 last 20000: poll x3614, 3.61 ms, given up\n20001 W\n");
}
