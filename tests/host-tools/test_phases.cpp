// phases: what begins one, and what nearly does.
#include "analysis/phases.hpp"
#include "random_trace.hpp"
#include "reading/drive.hpp"
#include "reading/trace.hpp"
#include "records.hpp"
#include "trace_text.hpp"

#include <fmt/format.h>

#include <string>

using namespace mmioscope;
using namespace mmioscope::test;

namespace {

constexpr char head[] = "device mmc@50000 0x1c050000 0x1000 arm,pl180\n"
                        "device serial0 0x1c090000 0x1000 arm,pl011\n"
                        "device gic@2c001000 0x2c001000 0x1000 arm,cortex-a15-gic\n"
                        "device gic@2c001000[1] 0x2c002000 0x1000\n"
                        "code 0xbf000000 0x100 mmci_probe armmmci\n"
                        "code 0xbf000100 0x100 mmci_start armmmci\n"
                        "code 0xc0500000 0x100 pl011_probe\n"
                        "code 0xc0500100 0x100 pl011_putc\n"
                        "code 0xc0500200 0x100 amba_read_periphid\n"
                        "code 0xc0500300 0x100 __raw_readsl\n"
                        "code 0xc0500400 0x100 gic_handle_irq\n";
constexpr std::uint32_t card = 0x1c050034, console = 0x1c090018, fifo = 0x1c050080;
constexpr std::uint32_t probe = 0xbf000000, start = 0xbf000100, uart_probe = 0xc0500000,
                        uart_putc = 0xc0500100, amba = 0xc0500200, copy = 0xc0500300,
                        handler = 0xc0500400;

std::string read(double seconds, std::uint32_t address, std::uint32_t pc, unsigned value = 0) {
    return fmt::format("{:.6f} cpu0 R4 {:#x} {} pc={:#x} sp=0xc1602000 mode=0x13\n", seconds,
                       address, value, pc);
}

/// A line for each phase: what began it, name, event, polls, devices.
std::string phases(const std::string& lines, const analysis::PhaseOptions& options = {}) {
    TextTrace trace(head + lines);
    analysis::Phases phases(options);
    trace.drive(phases);
    std::string text;
    const table::Table table = phases.table();
    table::each_row(table, [&text](const table::Row& row) {
        text += fmt::format("{} {} event {} polls {}: {}\n", std::get<std::string_view>(row[4]),
                            std::get<std::string>(row[5]), std::get<std::uint64_t>(row[11]),
                            std::get<std::uint64_t>(row[9]), std::get<std::string>(row[12]));
    });
    for (const std::string& line : table.left_out) {
        text += line + '\n';
    }
    return text;
}

const std::string begun = read(0, card, probe);
const std::string first = "probe mmci_probe [armmmci] event 1 polls 0: ";

} // namespace

TEST_CASE("a driver's first access to a device begins a phase") {
    CHECK(phases(begun + read(0.01, card, start)) == first + "mmc@50000 2\n");
    CHECK(phases(begun + read(0.01, console, start)) ==
          first + "mmc@50000 1\nprobe mmci_start [armmmci] event 2 polls 0: serial0 1\n");
    CHECK(phases(read(0, console, uart_probe) + read(0.01, console, uart_putc)) ==
          "probe pl011_probe event 1 polls 0: serial0 2\n");
    CHECK(phases(begun + read(0.01, card, amba)) ==
          first + "mmc@50000 1\nprobe amba_read_periphid event 2 polls 0: mmc@50000 1\n");
    SECTION("not of a function that copies for others, or has no name") {
        CHECK(phases(begun + read(0.01, fifo, copy)) == first + "mmc@50000 2\n");
        CHECK(phases(begun + read(0.01, card, 0xd0000000)) == first + "mmc@50000 2\n");
    }
    SECTION("one function that goes from device to device is one") {
        CHECK(phases(read(0, console, amba) + read(0.01, card, amba)) ==
              "probe amba_read_periphid event 1 polls 0: mmc@50000 1, serial0 1\n");
        CHECK(phases(read(0, console, amba) + "0.005 cpu0 marker value=7\n" +
                     read(0.01, card, amba)) ==
              "probe amba_read_periphid event 1 polls 0: serial0 1\n"
              "marker 7 event 2 polls 0: \n"
              "probe amba_read_periphid event 3 polls 0: mmc@50000 1\n");
    }
    SECTION("if that is asked for") {
        CHECK(phases(begun + read(0.01, console, start), {true, false, 0}) ==
              "start mmci_probe [armmmci] event 1 polls 0: mmc@50000 1, serial0 1\n");
    }
}

TEST_CASE("a marker begins a phase") {
    const std::string lines = begun + "0.005 cpu0 marker value=7\n" + read(0.01, card, start);
    CHECK(phases(lines) == first + "mmc@50000 1\nmarker 7 event 2 polls 0: mmc@50000 1\n");
    CHECK(phases(lines, {false, true, 0}) == first + "mmc@50000 2\n");
}

TEST_CASE("the end of an idle gap begins a phase") {
    const std::string last = read(0.2, card, start);
    const std::string two = first + "mmc@50000 1\nidle mmci_start [armmmci] event 2 polls 0: ";
    CHECK(phases(begun + read(0.1, card, start)) == two + "mmc@50000 1\n");
    CHECK(phases(begun + read(0.099999, card, start)) == first + "mmc@50000 2\n");
    CHECK(phases(begun + last, {true, true, 0}) == first + "mmc@50000 2\n");
    SECTION("not if accesses were lost in it") {
        CHECK(phases(begun + "0.1 cpu0 gap value=1\n" + last) == first + "mmc@50000 2\n");
    }
    SECTION("interrupts alone do not end it") {
        const std::string ticks = read(0.15, 0x2c00200c, handler, 27);
        const std::string between = first + "mmc@50000 1\n"
                                            "probe gic_handle_irq event 2 polls 0: "
                                            "gic@2c001000[1] 1\n";
        CHECK(phases(begun + ticks + last) ==
              between + "idle mmci_start [armmmci] event 3 polls 0: mmc@50000 1\n");
        CHECK(phases(begun + ticks + read(0.2, 0x2c00200c, handler, 27)) ==
              first + "mmc@50000 1\nprobe gic_handle_irq event 2 polls 0: gic@2c001000[1] 2\n");
    }
}

TEST_CASE("a poll belongs to the phase that it began in") {
    std::string lines = begun;
    for (unsigned i = 1; i < 6; ++i) {
        lines += read(0.001 * i, card, start, 0x800);
    }
    lines += "0.01 cpu0 marker value=7\n" + read(0.011, card, start, 0x40);
    CHECK(phases(lines + read(0.02, console, start)) ==
          "probe mmci_probe [armmmci] event 1 polls 1: mmc@50000 6\n"
          "marker 7 event 7 polls 0: mmc@50000 1\n"
          "probe mmci_start [armmmci] event 9 polls 0: serial0 1\n");
}

TEST_CASE("of more phases than have room the first are told, in order, and the others counted") {
    std::string lines;
    for (unsigned i = 0; i < 1500; ++i) {
        lines += fmt::format("{:.6f} cpu0 marker value={}\n", 0.001 * i, i);
        lines += read(0.001 * i + 0.0005, card, probe + 4 * (i % 40));
    }
    const std::string text = phases(lines, {true, false, 0});
    CHECK(std::count(text.begin(), text.end(), '\n') == 513);
    CHECK(text.starts_with("marker 0 event 1 polls 0: mmc@50000 1\nmarker 1 event 3"));
    CHECK_THAT(text,
               Catch::EndsWith("marker 511 event 1023 polls 0: mmc@50000 1\n"
                               "... 988 accesses of phases beyond the first 512 are left out: "
                               "choose fewer (-F, --cpu, --from, --to)\n"));
}

TEST_CASE("the phases of any trace have all of its accesses") {
    for (unsigned seed = 1; seed <= 4; ++seed) {
        const RandomTrace random(seed, 5'000);
        MemorySource source(random.bytes);
        reading::TraceOptions options;
        options.report = [](const std::string&) {};
        reading::Trace trace(options, source);
        analysis::Phases phases({});
        struct final : reading::Consumer {
            void add(const Event& event) override {
                accesses += event.record.type == abi::RecordType::access;
            }
            std::uint64_t accesses = 0;
        } counted;
        reading::drive(trace, {&phases, &counted});
        std::uint64_t accesses = 0, number = 0;
        table::each_row(phases.table(), [&](const table::Row& row) {
            CHECK(std::get<std::uint64_t>(row[0]) == ++number);
            accesses += std::get<std::uint64_t>(row[7]) + std::get<std::uint64_t>(row[8]);
        });
        CHECK(number > 0);
        CHECK(accesses == counted.accesses);
    }
}
