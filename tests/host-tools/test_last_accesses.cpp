// The last accesses of a boot, as lines and as rows.
#include "abi/control.hpp"
#include "fake_area.hpp"
#include "view/last_accesses.hpp"

#include <cstdlib>

using namespace mmioscope;
using namespace mmioscope::test;
using Catch::Contains;

namespace {

abi::Record piece(std::uint16_t id, std::uint64_t time, const char (&text)[9]) {
    abi::Record record = access(0, id, time);
    record.type = abi::RecordType::marker;
    record.device = abi::no_device;
    record.pa_low =
        static_cast<std::uint32_t>(abi::control::Command::marker_text) | std::uint32_t{id} << 16;
    std::memcpy(&record.value, text, sizeof record.value);
    return record;
}

/// A boot with a UART, and its last actions: accesses in each state, an interrupt, a marker of two
/// pieces, and one without its end.
class Boot {
public:
    Boot() : area_(2, 64) {
        abi::AreaHeader& header = area_.header();
        header.region_count = 1;
        header.version_minor = abi::version_minor;
        std::memcpy(header.board, "virt", 4);
        reinterpret_cast<abi::RegionEntry&>(area_.bytes()[header.regions_offset]) =
            region(0x1c09'0000, 0x1000, "/serial@90000");
        abi::Record begun = access(0, 5, 5'000'000);
        begun.type = abi::RecordType::begin;
        begun.pa_low += 4;
        abi::Record flying = access(1, 0, 6'000'000);
        flying.type = {};
        flying.pa_low += 8;
        abi::Record interrupt = access(0, 1, 4'500'000);
        interrupt.type = abi::RecordType::interrupt;
        last_ = {{{begun, true}, {flying, false}},
                 {access(0, 0, 4'000'000), interrupt, piece(2, 4'600'000, "complete"),
                  piece(3, 4'700'000, "d\0\0\0\0\0\0\0"), piece(7, 4'800'000, "unended!")},
                 0};
    }

    abi::AreaHeader& header() { return area_.header(); }
    view::KnownBoot known() {
        seen_.emplace(area_.bytes());
        return {*seen_, {}, "previous boot"};
    }
    const rings::LastAccesses& last() const { return last_; }

private:
    FakeArea area_;
    std::optional<rings::Area> seen_;
    rings::LastAccesses last_;
};

/// What `write` writes to a file.
std::string written(const std::function<void(std::FILE*)>& write) {
    char* text = nullptr;
    std::size_t size = 0;
    std::FILE* const file = ::open_memstream(&text, &size);
    write(file);
    std::fclose(file);
    std::string all(text, size);
    std::free(text);
    return all;
}

std::string rows(Boot& boot, bool csv, const reading::TraceOptions& chosen = {}) {
    return written([&](std::FILE* out) {
        const view::KnownBoot known = boot.known();
        view::LastRows output(out, known, csv);
        view::show(known, boot.last(), chosen, output);
    });
}

std::string lines(Boot& boot, const reading::TraceOptions& chosen = {}) {
    return written([&](std::FILE* out) {
        const view::KnownBoot known = boot.known();
        view::LastLines output(out, known, view::style_of);
        view::show(known, boot.last(), chosen, output);
    });
}

} // namespace

TEST_CASE("a row of an access in flight has only what is known of it") {
    Boot boot;
    CHECK_THAT(rows(boot, false),
               Contains("\n{\"ns\":6000000000,\"ticks\":6000000,\"cpu\":1,\"type\":\"begin\","
                        "\"device\":\"serial@90000\",\"offset\":\"0x8\",\"address\":\"0x1c090008\","
                        "\"pc\":\"0xc0000000\",\"state\":\"in-flight\"}\n"));
}

TEST_CASE("each row has its state, except an interrupt") {
    Boot boot;
    const std::string text = rows(boot, false);
    CHECK_THAT(
        text, Contains("\"type\":\"begin\",\"dir\":\"r\"") && Contains("\"offset\":\"0x4\"") &&
                  Contains("\"state\":\"unfinished\"}\n") && Contains("\"state\":\"finished\"}\n"));
    CHECK_THAT(text.substr(text.find("interrupt")), !Contains("state"));
    CHECK(std::ranges::count(text, '\n') == 7);
    CHECK(text.find("in-flight") < text.find("unfinished"));
    CHECK(text.find("unfinished") < text.find("\"finished"));
}

TEST_CASE("a marker is one row, with all of its text that is available") {
    Boot boot;
    CHECK_THAT(rows(boot, false), Contains("\"type\":\"marker\"") &&
                                      Contains("\"text\":\"completed\"") &&
                                      Contains("\"text\":\"\\\"unended!\\\"...\""));
}

TEST_CASE("CSV has the columns of exports, and the state") {
    Boot boot;
    const std::string text = rows(boot, true);
    CHECK(text.starts_with("ns,ticks,cpu,type,dir,size,device,"));
    CHECK_THAT(text.substr(0, text.find('\n')),
               Catch::EndsWith(",sequence,order,flags,payload,note,state"));
    const auto commas = std::ranges::count(text, ',');
    CHECK(commas == 7 * static_cast<std::ptrdiff_t>(exporting::columns.size()));
    CHECK_THAT(text,
               Contains(",in-flight\n") && Contains(",unfinished\n") && Contains(",finished\n"));
}

TEST_CASE("JSON begins with the boot that it describes") {
    Boot boot;
    boot.header().state = abi::AreaState::panicked;
    boot.header().kept = abi::Kept::no_room;
    boot.header().boot_id[15] = 0xab;
    CHECK_THAT(
        rows(boot, false),
        Catch::StartsWith("{\"type\":\"boot\",\"format\":1,\"which\":\"previous boot\",\"boot_id\":"
                          "\"000000000000000000000000000000ab\",\"board\":\"virt\","
                          "\"ticks_per_second\":1000000,\"cpus\":2,\"stopped\":true,"
                          "\"not_kept\":\"the area is too small to keep a previous boot\"}\n"));
    CHECK(view::boot_line(boot.known()) ==
          "previous boot, id 000000000000000000000000000000ab, virt, 2 CPUs, the hypervisor had "
          "stopped; the area is too small to keep a previous boot\n");
}

TEST_CASE("a filter selects among the described accesses, CPUs among all") {
    Boot boot;
    reading::TraceOptions chosen;
    chosen.filter = "type==interrupt";
    CHECK_THAT(lines(boot, chosen), Contains("(in flight") && !Contains("no end recorded"));
    chosen.filter.clear();
    chosen.cpus = {0};
    CHECK_THAT(lines(boot, chosen), !Contains("(in flight") && Contains("no end recorded"));
    CHECK(std::ranges::count(rows(boot, true, chosen), '\n') == 6);
}

TEST_CASE("without code addresses no row and no line has a PC") {
    Boot boot;
    reading::TraceOptions chosen;
    chosen.no_pc = true;
    CHECK_THAT(rows(boot, false, chosen), !Contains("\"pc\"") && !Contains("c00000"));
    CHECK_THAT(lines(boot), Contains("pc 0xc0000000 (in flight; no begin record)"));
    CHECK_THAT(lines(boot, chosen), Contains("?          (in flight; no begin record)"));
}

TEST_CASE("lines begin with the unfinished accesses") {
    Boot boot;
    CHECK_THAT(
        lines(boot),
        Catch::StartsWith("unfinished: \n"
                          "    6.000000 cpu1 ?? serial@90000 +0x008 ?          pc 0xc0000000 "
                          "(in flight; no begin record)\n"
                          "    5.000000 cpu0 R4 serial@90000 +0x004 ") &&
            Contains("(begun, no end recorded)\nthe last 5 before:\n     seconds cpu ") &&
            Contains(" task 0x0\n    4.700000 cpu0 mark \"completed\"\n") &&
            Catch::EndsWith("\n    4.800000 cpu0 mark \"unended!\"...\n"));
}
