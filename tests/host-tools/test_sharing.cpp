// sharing: lost updates, interrupts that are never ended, and what only looks like them.
#include "analysis/sharing.hpp"
#include "random_trace.hpp"
#include "reading/drive.hpp"
#include "reading/trace.hpp"
#include "records.hpp"
#include "trace_text.hpp"

#include <fmt/format.h>

#include <map>
#include <set>
#include <string>

using namespace mmioscope;
using namespace mmioscope::test;

namespace {

constexpr char head[] = "device clcd@1f0000 0x1c1f0000 0x2000 arm,pl111\n"
                        "device gic@2c001000 0x2c001000 0x1000 arm,cortex-a15-gic\n"
                        "device gic@2c001000[1] 0x2c002000 0x1000\n"
                        "code 0xc0500000 0x100 update\n"
                        "code 0xc0500100 0x100 read_it\n"
                        "code 0xc0500200 0x100 write_it\n"
                        "code 0xc0500300 0x100 other\n";
constexpr std::uint32_t reg = 0x1c1f0200, iar = 0x2c00200c, eoir = 0x2c002010, hppir = 0x2c002018,
                        enable0 = 0x2c001100, enable1 = 0x2c001104;
constexpr std::uint32_t update = 0xc0500000, read_it = 0xc0500100, write_it = 0xc0500200,
                        other = 0xc0500300;
constexpr std::uint32_t stack_0 = 0xc1602e00, stack_1 = 0xc1604e00;

/// Accesses, one each microsecond, of the CPU that was named last, on its stack, in `update`.
class Script {
public:
    Script& on(unsigned cpu) {
        cpu_ = cpu;
        sp_ = cpu == 0 ? stack_0 : stack_1;
        return *this;
    }
    Script& stack(std::uint32_t sp) {
        sp_ = sp;
        return *this;
    }
    Script& mode(unsigned mode) {
        mode_ = mode;
        return *this;
    }
    Script& at(std::uint32_t pc, std::uint32_t lr = 0) {
        pc_ = pc;
        lr_ = lr;
        return *this;
    }
    Script& pause(std::uint64_t microseconds) {
        time_ += microseconds;
        return *this;
    }
    Script& read(std::uint64_t value, std::uint32_t address = reg) {
        return add("R4", address, fmt::format("{:#x}", value));
    }
    Script& write(std::uint64_t value, std::uint32_t address = reg) {
        return add("W4", address, fmt::format("{:#x}", value));
    }
    Script& unknown(std::uint32_t address = reg) { return add("W4", address, "?"); }
    Script& line(const char* what) {
        lines_ +=
            fmt::format("{}.{:06} cpu{} {}\n", time_ / 1'000'000, time_ % 1'000'000, cpu_, what);
        ++time_;
        return *this;
    }
    /// The register holds `value`, and was seen to keep what is written.
    Script& keeps(std::uint64_t value) { return write(~value).write(value).read(value); }
    const std::string& text() const { return lines_; }

private:
    Script& add(const char* what, std::uint32_t address, const std::string& value) {
        return line(fmt::format("{} {:#x} {} pc={:#x} lr={:#x} sp={:#x} mode={:#x}", what, address,
                                value, pc_ + 0x10, lr_, sp_, mode_)
                        .c_str());
    }

    std::string lines_;
    std::uint64_t time_ = 0;
    unsigned cpu_ = 0, mode_ = 0x13;
    std::uint32_t sp_ = stack_0, pc_ = update, lr_ = 0;
};

std::string text_of(const table::Cell& cell) {
    if (const auto* text = std::get_if<std::string>(&cell)) {
        return *text;
    }
    if (const auto* text = std::get_if<std::string_view>(&cell)) {
        return std::string(*text);
    }
    const auto* number = std::get_if<std::uint64_t>(&cell);
    return number == nullptr ? "-" : fmt::format("{}", *number);
}

/// A line for each finding of this kind: device, register, what, times or closest ns, event.
std::string found(const Script& script, std::string_view kind, std::string* closing = nullptr,
                  std::size_t most = 100'000) {
    TextTrace trace(head + script.text());
    analysis::Sharing sharing;
    trace.drive(sharing);
    const table::Table table = sharing.table(most);
    std::string text;
    table::each_row(table, [&](const table::Row& row) {
        if (text_of(row[0]) == kind) {
            text += fmt::format("{} {} x{} {}ns event {}\n", text_of(row[2]), text_of(row[3]),
                                text_of(row[11]), text_of(row[14]), text_of(row[15]));
        }
    });
    if (closing != nullptr) {
        *closing = fmt::format("{}\n{}", table.closing, fmt::join(table.left_out, "\n"));
    }
    return text;
}

std::string lost(const Script& script) {
    return found(script, "lost update");
}

const std::string b_lost = "Palette0 &0x2=0x2 x1 1000ns event 6\n";

} // namespace

TEST_CASE("an update is lost if a CPU writes what it read before another one's write") {
    const Script begun = Script().keeps(0x10).read(0x10).on(1).write(0x12);
    CHECK(lost(Script(begun).on(0).write(0x11)) == b_lost);
    SECTION("not if it wrote the other one's bits, too, or changed nothing but them") {
        CHECK(lost(Script(begun).on(0).write(0x13)) == "");
        CHECK(lost(Script(begun).on(0).write(0x12)) == "");
    }
    SECTION("not if it read again") {
        CHECK(lost(Script(begun).on(0).read(0x12).write(0x11)) == "");
    }
    SECTION("not by a second write, which comes from no read") {
        CHECK(lost(Script().keeps(0x10).read(0x10).write(0x14).on(1).write(0x12).on(0).write(
                  0x11)) == "");
    }
    SECTION("not if the other write came before the read, or wrote the same") {
        CHECK(lost(Script().keeps(0x10).on(1).write(0x12).on(0).read(0x12).write(0x11)) == "");
        CHECK(lost(Script().keeps(0x10).read(0x10).on(1).write(0x10).on(0).write(0x11)) == "");
    }
    SECTION("not if the other one took its bits back") {
        CHECK(lost(Script(begun).write(0x10).on(0).write(0x11)) == "");
    }
    SECTION("not by the same CPU's other stack") {
        CHECK(lost(Script().keeps(0x10).read(0x10).stack(stack_1).write(0x12).on(0).write(0x11)) ==
              "");
    }
    SECTION("not a second later") {
        CHECK(lost(Script(begun).on(0).pause(999'000).write(0x11)) != "");
        CHECK(lost(Script(begun).on(0).pause(1'000'000).write(0x11)) == "");
    }
    SECTION("not if the value that was written is not known") {
        CHECK(lost(Script().keeps(0x10).read(0x10).on(1).write(0x12).unknown().on(0).write(0x11)) ==
              "");
    }
}

TEST_CASE("what reads and what writes must be one function, or have one caller") {
    const auto by = [](std::uint32_t reader, std::uint32_t writer, std::uint32_t read_for,
                       std::uint32_t write_for) {
        return lost(Script()
                        .keeps(0x10)
                        .at(reader, read_for)
                        .read(0x10)
                        .on(1)
                        .at(other)
                        .write(0x12)
                        .on(0)
                        .at(writer, write_for)
                        .write(0x11));
    };
    CHECK(by(update, update, 0, 0) == b_lost);
    CHECK(by(read_it, write_it, update + 8, update + 0x20) == b_lost);
    CHECK(by(read_it, update, update + 8, 0) == b_lost);
    CHECK(by(read_it, write_it, update + 8, other + 8) == "");
    CHECK(by(read_it, write_it, 0, 0) == "");
    CHECK(by(0xd000'0000, 0xd000'0800, 0, 0) == b_lost); // code without names
    CHECK(by(0xd000'0000, 0xd000'2000, 0, 0) == "");
}

TEST_CASE("an update is lost only in a register that keeps what is written") {
    const auto after = [](Script script) {
        return lost(script.write(0x10).read(0x10).on(1).write(0x12).on(0).write(0x11));
    };
    CHECK(after(Script().write(0)) != "");
    CHECK(after(Script()) == ""); // never seen to keep a change
    CHECK(after(Script().write(0).read(0).write(1).read(1)) != "");
    // Sets: a 0 clears nothing. Clears: a 1 clears.
    CHECK(after(Script().write(0).write(4).read(4).write(1).read(5)) == "");
    CHECK(after(Script().write(0).write(3).read(3).write(1).read(2)) == "");
    // A bit that clears itself, and another one than what was lost; then the one that was lost.
    CHECK(after(Script().write(0).write(0x40).read(0)) != "");
    CHECK(after(Script().write(0).write(2).read(0)) == "");
    // A FIFO gives something else than was written.
    CHECK(after(Script().write(0).write(0x41).read(0x72).write(0x42).read(0x63)) == "");
}

TEST_CASE("a handler's run writes nothing that an earlier run read") {
    const auto runs = [](bool two) {
        Script script = Script().keeps(0x10).read(41, iar).read(0x10);
        if (two) {
            script.write(41, eoir).read(41, iar);
        }
        return lost(script.on(1).write(0x12).on(0).write(0x11).write(41, eoir));
    };
    CHECK(runs(false) != "");
    CHECK(runs(true) == "");
}

TEST_CASE("nothing is concluded across a loss") {
    const auto across = [](bool loss) {
        Script script = Script().keeps(0x10).read(0x10);
        script.read(42, iar);
        if (loss) {
            script.line("gap value=1");
        }
        return script.on(1).write(0x12).on(0).write(0x11).stack(stack_0 + 0x80).read(0x11);
    };
    CHECK(lost(Script()
                   .keeps(0x10)
                   .read(0x10)
                   .line("gap value=1")
                   .on(1)
                   .write(0x12)
                   .on(0)
                   .write(0x11)) == "");
    CHECK(found(across(false), "never ended") != "");
    CHECK(found(across(true), "never ended") == "");
}

TEST_CASE("registers that each CPU has for itself are not shared") {
    const auto use = [](std::uint32_t address) {
        return Script().read(1, address).on(1).write(1, address);
    };
    CHECK(found(use(enable0), "shared register") == "");
    CHECK(found(use(enable0), "shared page") == "");
    CHECK(found(use(iar), "shared register") == "");
    CHECK(found(use(0x2c002004), "shared register") == ""); // GICC_PMR
    CHECK(found(use(enable1), "shared register") == "GICD_ISENABLER1 - x- 1000ns event 2\n");
    CHECK(found(use(0x2c00141c), "shared register") == ""); // GICD_IPRIORITYR7, and 8
    CHECK(found(use(0x2c001420), "shared register") != "");
}

TEST_CASE("an interrupt is never ended if its CPU has gone on") {
    const auto after = [](const Script& script) { return found(script, "never ended"); };
    const Script begun = Script().read(42, iar);
    const Script left = Script(begun).stack(stack_0 + 0x40).read(1);
    const std::string it = "GICC_IAR 42 x1 -ns event 1\n";
    CHECK(after(left) == it);
    CHECK(after(Script(left).write(42, eoir)) == "");
    CHECK(after(Script(left).write(43, eoir)) == it);
    CHECK(after(Script(left).on(1).write(42, eoir)) == it); // it must be the same CPU
    SECTION("not if it may still be at it") {
        CHECK(after(begun) == "");
        CHECK(after(Script(begun).read(1)) == "");
        CHECK(after(Script(begun).stack(stack_0 + 0x3c).read(1)) == "");
        CHECK(after(Script(begun).stack(stack_0 - 8'192).read(1)) == "");
        CHECK(after(Script(begun).on(1).read(1)) == "");
        CHECK(after(Script(begun).mode(0x1f).stack(stack_1).read(1)) == "");
    }
    SECTION("another stack, User mode, the same interrupt again") {
        CHECK(after(Script(begun).stack(stack_1).read(1)) == it);
        CHECK(after(Script(begun).mode(0x10).stack(0x1000).read(1)) == it);
        CHECK(after(Script(begun).read(42, iar)) == it);
        CHECK(after(Script(begun).read(42, iar).write(42, eoir)) == it);
    }
    SECTION("one that came in between is another one") {
        CHECK(after(Script(begun).stack(stack_0 - 256).read(43, iar).read(1).write(43, eoir)) ==
              "");
    }
    SECTION("the source of an SGI is a part of it") {
        const Script sgi = Script().read(0x401, iar).stack(stack_0 + 0x40).read(1);
        CHECK(after(Script(sgi).write(0x401, eoir)) == "");
        CHECK(after(Script(sgi).write(1, eoir)) == "GICC_IAR SGI 1 from cpu1 x1 -ns event 1\n");
    }
    SECTION("a look at what is pending, or at nothing, acknowledges nothing") {
        CHECK(after(Script().read(42, hppir).stack(stack_0 + 0x40).read(1)) == "");
        CHECK(after(Script().read(1023, iar).stack(stack_0 + 0x40).read(1)) == "");
    }
    SECTION("a CPU that was switched off ends none") {
        CHECK(after(Script(left).line("power value=0x100")) == "");
        CHECK(after(Script(left).on(1).line("power value=0")) == "");
    }
}

TEST_CASE("a register is never read back if no read follows its first write") {
    const auto after = [](const Script& script) { return found(script, "never read back"); };
    CHECK(after(Script().read(0).write(1).write(2)) == "Palette0 - x- -ns event 3\n");
    CHECK(after(Script().write(1).read(1).write(2)) == "");
    CHECK(after(Script().write(1).on(1).read(1)) == "");
}

TEST_CASE("the closest accesses of two CPUs count, and more registers than have room") {
    Script script =
        Script().read(0).pause(9).on(1).read(0).pause(4).on(0).read(0).pause(20).on(1).read(0);
    const std::string closest = "Palette0 - x- 5000ns event 3\n";
    CHECK(found(script, "shared register") == closest);
    CHECK(found(Script(script).line("gap value=1").on(0).read(0), "shared register") == closest);
    Script many;
    for (unsigned i = 0; i < 1500; ++i) {
        many.on(0).read(0, 0x1c1f0000 + 4 * i).on(1).write(0, 0x1c1f0000 + 4 * i);
    }
    many.on(0).read(0, 0x1c1f0000);
    std::string closing;
    const std::string all = found(many, "shared register", &closing);
    CHECK(std::count(all.begin(), all.end(), '\n') == 768);
    const std::string left_out =
        "\n... 1464 accesses to registers beyond the first 768 are left out: choose fewer (-F, "
        "--cpu, --from, --to)";
    CHECK(closing == left_out);
    const std::string unread = found(many, "never read back", &closing, 700);
    CHECK(std::count(unread.begin(), unread.end(), '\n') == 700);
    CHECK(closing == "... 68 shared register, 67 never read back more" + left_out);
}

TEST_CASE("the shared pages of any trace are those that a model finds") {
    for (unsigned seed = 1; seed <= 4; ++seed) {
        const RandomTrace random(seed, 5'000);
        MemorySource source(random.bytes);
        reading::TraceOptions options;
        options.report = [](const std::string&) {};
        reading::Trace trace(options, source);
        analysis::Sharing sharing;
        struct final : reading::Consumer {
            void add(const Event& event) override {
                if (event.record.type == abi::RecordType::access && event.interrupt_id() == no_id &&
                    !analysis::is_banked(event.reg())) {
                    cpus[abi::physical_address(event.record) >> 12].insert(event.record.cpu);
                }
            }
            std::map<std::uint64_t, std::set<unsigned>> cpus; ///< by page
        } model;
        reading::drive(trace, {&sharing, &model});
        std::set<std::string> pages, expected;
        table::each_row(sharing.table(1'000'000), [&pages](const table::Row& row) {
            if (text_of(row[0]) == "shared page") {
                pages.insert(text_of(row[3]));
            }
        });
        for (const auto& [page, cpus] : model.cpus) {
            if (cpus.size() > 1) {
                expected.insert(fmt::format("{:#x}", page << 12));
            }
        }
        CHECK(pages == expected);
    }
}
