// advise: what deserves a look, and what is one access, bit or microsecond short of it.
#include "analysis/advice.hpp"
#include "records.hpp"
#include "trace_text.hpp"

#include <fmt/format.h>

#include <string>

using namespace mmioscope;
using namespace mmioscope::test;

namespace {

constexpr char head[] = "device clcd@1f0000 0x1c1f0000 0x2000 arm,pl111\n"
                        "device mmc@50000 0x1c050000 0x1000 arm,pl180\n"
                        "device gic@2c001000 0x2c001000 0x1000 arm,cortex-a15-gic\n"
                        "device gic@2c001000[1] 0x2c002000 0x1000\n"
                        "code 0xc0500000 0x100 update\n"
                        "code 0xc0500100 0x100 other\n";
constexpr std::uint32_t status = 0x1c050034, command = 0x1c05000c, palette = 0x1c1f0200,
                        mask = 0x1c1f001c, iar = 0x2c00200c, eoir = 0x2c002010;

/// Accesses of `update` on CPU 0, unless somebody says otherwise, each with its time in us.
class Script {
public:
    Script& on(unsigned cpu) {
        cpu_ = cpu;
        return *this;
    }
    Script& pause(std::uint64_t microseconds) {
        time_ += microseconds;
        return *this;
    }
    Script& read(std::uint32_t address, std::uint64_t value, unsigned duration = 0) {
        return add("R4", address, fmt::format("{:#x} duration={}", value, duration));
    }
    Script& write(std::uint32_t address, std::uint64_t value, unsigned duration = 0) {
        return add("W4", address, fmt::format("{:#x} duration={}", value, duration));
    }
    /// So many reads of Status, so many us apart, after which it does something else.
    Script& reads(unsigned times, unsigned apart, std::uint64_t last = 0x1000) {
        for (unsigned i = 1; i < times; ++i) {
            read(status, 0x1000).pause(apart - 1);
        }
        read(status, last);
        return read(mask, 0, 0);
    }
    Script& line(const std::string& what, const std::string& more = {}) {
        lines_ +=
            fmt::format("{}.{:06} cpu{} {} pc={:#x} sp={:#x} mode=0x13{}\n", time_ / 1'000'000,
                        time_ % 1'000'000, cpu_, what, cpu_ == 0 ? 0xc0500010 : 0xc0500110,
                        cpu_ == 0 ? 0xc1602e00 : 0xc1604e00, more);
        ++time_;
        return *this;
    }
    const std::string& text() const { return lines_; }

private:
    Script& add(const char* what, std::uint32_t address, const std::string& value) {
        return line(fmt::format("{} {:#x} {}", what, address, value));
    }

    std::string lines_;
    std::uint64_t time_ = 0;
    unsigned cpu_ = 0;
};

/// A line for each finding: "kind: text @event".
std::string advice(const Script& script, bool has_frequency = true) {
    TextTrace trace(head + script.text());
    analysis::Advisor advisor;
    trace.drive(advisor);
    const table::Table table =
        advisor.table(has_frequency ? trace.reader().info()->counter_frequency : 0);
    std::string text;
    for (const table::Row& row : table.rows) {
        text += fmt::format("{}: {} @{}\n", table::text_in(row[0]), table::text_in(row[1]),
                            std::get<std::uint64_t>(row[2]));
    }
    return text;
}

/// Writes of Mask, each with a read behind it that gives `value(i)`, or is of Palette0.
Script read_backs(unsigned times, std::uint32_t behind, std::uint64_t changed = 0) {
    Script script;
    for (unsigned i = 0; i < times; ++i) {
        script.write(mask, 0x11).read(behind, i == 1 ? 0x11 ^ changed : 0x11, 5).pause(100);
        script.write(command, 0).pause(100);
    }
    return script;
}

} // namespace

TEST_CASE("advice: nothing of an ordinary trace") {
    CHECK(advice(Script()) == "");
    CHECK(advice(Script().write(mask, 1).read(mask, 1).read(status, 0x40)) == "");
}

TEST_CASE("advice: loops that wait long, and those that wait in vain") {
    // 100 reads, 1 ms apart, of which the last has another value.
    CHECK(advice(Script().reads(102, 1000, 0x1040)) ==
          "polling: mmc@50000 Status by update took 0.10 s: 102 reads in loops, once @1\n");
    CHECK(advice(Script().reads(99, 1000, 0x1040)) == "");
    // It sleeps in between, or is a handler.
    CHECK(advice(Script().reads(102, 1011, 0x1040)) == "");
    CHECK(advice(Script().read(mask, 0).reads(33, 2).reads(40, 2)) ==
          "given up: mmc@50000 Status by update was polled and stayed 0x1000, 2 times: 73 reads in "
          "0.14 ms @36\n");
    CHECK(advice(Script().reads(32, 2)) == ""); // one for each bit
    Script words;                               // of a FIFO that has only zeros
    for (int i = 0; i < 200; ++i) {
        words.reads(16, 100);
    }
    CHECK(advice(words) == "");
    CHECK(advice(Script().reads(33, 2, 0x1040)) == "");
    Script data = Script().reads(40, 2); // a register that later has 64 values is not waited for
    for (unsigned i = 0; i < 64; ++i) {
        data.read(status, i * 0x101).write(command, i);
    }
    CHECK(advice(data) == "");
    CHECK(advice(Script().reads(40, 2)) != "");
    CHECK(advice(Script().reads(40, 2), false) == ""); // no frequency
}

TEST_CASE("advice: updates that are lost, interrupts that are never ended") {
    const Script begun = Script()
                             .write(palette, ~0x10u)
                             .write(palette, 0x10)
                             .read(palette, 0x10)
                             .read(palette, 0x10);
    CHECK(advice(Script(begun).on(1).write(palette, 0x12).on(0).write(palette, 0x11)) ==
          "lost update: clcd@1f0000 Palette0 by update took back &0x2=0x2, written by other, "
          "once @6\n");
    CHECK(advice(Script(begun).on(1).write(palette, 0x12).on(0).write(palette, 0x13)) == "");
    CHECK(advice(Script().read(iar, 41).read(iar, 41).write(eoir, 41)) ==
          "never ended: interrupt 41 on cpu0 was acknowledged and never ended, once @1\n");
    CHECK(advice(Script().read(iar, 41).write(eoir, 41).read(iar, 41).write(eoir, 41)) == "");
}

TEST_CASE("advice: faults; nothing across a loss") {
    CHECK(advice(Script()
                     .read(status, 0)
                     .line("R4 0x1c050034 8", " type=11")
                     .line("R4 0x1c050034 8", " type=11"),
                 false) ==
          "fault: no access: external abort: mmc@50000 Status by update, 2 times @2\n");
    const auto parted = [](const char* by) { // the tenth write from the read behind it
        Script script;
        for (int i = 0; i < 32; ++i) {
            script.write(mask, 0x11).line(i == 9 ? by : "marker", " value=7").read(mask, 0x11);
            script.write(command, 0);
        }
        return advice(script);
    };
    CHECK(parted("marker").starts_with("read-back: "));
    CHECK(parted("gap") == "");
}

TEST_CASE("advice: devices that take long, and one access that does") {
    CHECK(advice(Script().read(status, 0, 501).pause(9998).read(mask, 0)) ==
          "time: mmc@50000 took 0.50 ms of 10.00 ms, in 1 accesses @1\n");
    CHECK(advice(Script().read(status, 0, 499).pause(9998).read(mask, 0)) == "");
    CHECK(advice(Script().read(mask, 0).write(status, 0, 1000).pause(50'000).read(mask, 0)) ==
          "slow access: a write of mmc@50000 Status by update took 1.00 ms, more than all others "
          "@2\n");
    CHECK(advice(Script().read(mask, 0).write(status, 0, 999).pause(50'000).read(mask, 0)) == "");
}

TEST_CASE("advice: reads that say nothing new after each write") {
    CHECK(advice(read_backs(32, mask)) ==
          "read-back: clcd@1f0000 IMSC is read back after each of 32 writes of clcd@1f0000 IMSC: "
          "0.16 ms @2\n");
    CHECK(advice(read_backs(32, palette)) ==
          "read-back: clcd@1f0000 Palette0 is read after each of 32 writes of clcd@1f0000 IMSC: "
          "0.16 ms @2\n");
    CHECK(advice(read_backs(31, mask)) == "");
    CHECK(advice(read_backs(32, mask, 1)) == "");    // not what was written
    CHECK(advice(read_backs(32, palette, 1)) == ""); // it changes
    CHECK(advice(read_backs(32, status)) == "");     // of another device
    CHECK(advice(read_backs(32, mask).write(mask, 0x11).write(command, 0)) == ""); // not each
    Script polled; // a status before each write
    for (int i = 0; i < 40; ++i) {
        polled.read(palette, 0x11).write(mask, static_cast<std::uint64_t>(i)).pause(100);
    }
    CHECK(advice(polled.read(palette, 0x11)) == "");
    Script changes; // a read before a write belongs to that
    for (int i = 0; i < 40; ++i) {
        changes.write(mask, 0x11).read(mask, 0x11);
    }
    CHECK(advice(changes) == "");
}
