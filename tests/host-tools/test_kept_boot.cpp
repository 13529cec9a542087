// The previous boot in a stream: the result is an area like the one in memory, complete or none.
#include "../sim/random.hpp"
#include "catch_2_or_3.hpp"
#include "records.hpp"
#include "rings/black_box.hpp"
#include "stream_maker.hpp"
#include "wire/wire_decoder.hpp"

#include <algorithm>

using namespace mmioscope;
using namespace mmioscope::test;

namespace {

using Records = std::vector<abi::Record>;
constexpr std::uint32_t made = 1200; ///< by CPU 0; more than are kept
constexpr std::uint32_t few = 10;    ///< by CPU 1
constexpr std::uint32_t boot_number = 7;

Records made_by(unsigned cpu, std::uint32_t from, std::uint32_t to) {
    Records records;
    for (; from < to; ++from) {
        records.push_back(access(cpu, from, 1000 + 10 * from + cpu));
        records.back().commit = abi::commit_word(boot_number, from);
        records.back().device = 0;
    }
    return records;
}

/// CPU 1's first, then CPU 0's.
Records kept_records() {
    Records kept = made_by(1, 0, few);
    const Records more = made_by(0, made - abi::kept_records, made);
    kept.insert(kept.end(), more.begin(), more.end());
    return kept;
}

std::vector<abi::KeptCpu> cpus() {
    std::vector<abi::KeptCpu> cpus(2);
    for (abi::KeptCpu& cpu : cpus) cpu.boot_number = boot_number;
    cpus[0].head = made;
    cpus[1].head = few;
    cpus[1].in_flight = abi::InFlight::in_header;
    cpus[1].in_flight_time = 1'000'000;
    cpus[1].in_flight_pa = 0x1c09'0004;
    cpus[1].statistics.traps = 77;
    return cpus;
}

StreamMaker stream(const Records& kept = kept_records()) {
    StreamMaker maker;
    maker.hello({{0x1c09'0000, 0x1000, 0, abi::region_traced, 0, 7, 0}}, "/serial");
    maker.previous(kept, cpus());
    maker.records(made_by(0, 0, 5));
    return maker;
}

rings::LastAccesses last_of(rings::RecordedBoot& boot, std::uint64_t count) {
    const std::optional<rings::Area> area = rings::sound_area(boot.area.bytes());
    REQUIRE(area.has_value());
    return rings::last_accesses(*area, count);
}

Wire first_frame(const Wire& wire) {
    return {wire.begin(), std::find(wire.begin() + 1, wire.end(), std::byte{0})};
}

bool same(const abi::Record& a, const abi::Record& b) {
    return std::memcmp(&a, &b, sizeof a) == 0;
}

} // namespace

TEST_CASE("kept: the last records of a previous boot are read from a stream and from a file") {
    std::optional<rings::RecordedBoot> boot = rings::previous_boot_in_stream(stream().wire());
    REQUIRE(boot.has_value());
    SECTION("stream") {}
    SECTION("file") {
        const std::vector<std::byte> bytes = trace_bytes([&boot](trace::FileWriter& file) {
            write_info(file);
            file.section(abi::SectionType::previous_boot, boot->area.bytes());
            file.append(made_by(0, 0, 5));
            file.finish(0, abi::Ending::machine_off);
        });
        CHECK(rings::is_trace_file(bytes));
        boot = rings::previous_boot_in_file(bytes);
        REQUIRE(boot.has_value());
    }
    const rings::LastAccesses last = last_of(*boot, 5000);
    CHECK(last.damaged == 0);
    REQUIRE(last.records.size() == abi::kept_records + few);
    CHECK(same(last.records.back(), made_by(0, made - 1, made)[0]));
    CHECK(same(last.records.front(), made_by(1, 0, 1)[0]));
    REQUIRE(last.unfinished.size() == 1);
    CHECK(last.unfinished[0].record.cpu == 1);
    CHECK(abi::physical_address(last.unfinished[0].record) == 0x1c09'0004);
    CHECK(rings::sound_area(boot->area.bytes())->statistics()[1].traps == 77);
}

TEST_CASE("kept: a stream or a file without a previous boot has none") {
    StreamMaker maker;
    maker.hello({{0x1c09'0000, 0x1000, 0, abi::region_traced, 0, 7, 0}}, "/serial");
    maker.records(made_by(0, 0, 5));
    CHECK(!rings::previous_boot_in_stream(maker.wire()).has_value());
    CHECK(!rings::is_trace_file(maker.wire()));
    CHECK(!rings::previous_boot_in_file(trace_bytes([](trace::FileWriter& file) {
               write_info(file);
               file.finish(0, abi::Ending::machine_off);
           })).has_value());
}

TEST_CASE("kept: invalid records are counted as damaged") {
    Records kept = made_by(0, made - abi::kept_records, made);
    kept[5].commit = abi::commit_word(boot_number, 2);
    kept[6].commit = abi::commit_word(boot_number, made);
    kept[7].cpu = 9;
    const Records too_many(20'000, kept[8]);
    kept.insert(kept.end(), too_many.begin(), too_many.end());
    std::optional<rings::RecordedBoot> boot = rings::previous_boot_in_stream(stream(kept).wire());
    REQUIRE(boot.has_value());
    CHECK(last_of(*boot, 5000).damaged == 3 + few);
}

TEST_CASE("kept: a damaged byte never gives a wrong record") {
    const Wire sound = stream().wire();
    const Wire begins = first_frame(sound);
    std::size_t without = 0;
    const std::size_t step = sim::seeds(1) == 1 ? 33 : 11;
    for (std::size_t at = 0; at < sound.size(); at += step) {
        Wire wire = sound;
        wire[at] ^= static_cast<std::byte>(1u << at % 8);
        std::optional<rings::RecordedBoot> boot = rings::previous_boot_in_stream(wire);
        without += boot ? 0 : 1;
        if (!boot) {
            continue;
        }
        const rings::LastAccesses last = last_of(*boot, 5000);
        CHECK(last.records.size() + last.damaged == abi::kept_records + few);
        for (const abi::Record& record : last.records) {
            const std::uint32_t position = record.commit - abi::commit_word(boot_number, 0);
            REQUIRE(same(record, made_by(record.cpu, position, position + 1)[0]));
        }
    }
    // Only if the boot's own description is damaged, which this stream has once.
    CHECK(without > 0);
    CHECK(without <= begins.size() / step + 1);
}

TEST_CASE("kept: the previous boot waits for its successor's description, as its records do") {
    StreamMaker maker = stream();
    maker.pieces(maker.description()); // again, as before the end
    const Wire sound = maker.wire();
    const std::size_t first = first_frame(sound).size();
    for (std::size_t at = 0; at < first + 40; at += 3) { // the previous one's begins there, too
        Wire wire = sound;
        wire[at] ^= std::byte{0x10};
        std::optional<rings::RecordedBoot> boot = rings::previous_boot_in_stream(wire);
        REQUIRE(boot.has_value());
        CHECK(last_of(*boot, 5000).records.size() == abi::kept_records + few);
    }
    Wire late(sound.begin() + static_cast<long>(first + 1000), sound.end()); // amid its records
    std::optional<rings::RecordedBoot> boot = rings::previous_boot_in_stream(late);
    REQUIRE(boot.has_value());
    const rings::LastAccesses last = last_of(*boot, 5000);
    CHECK(last.records.size() + last.damaged == abi::kept_records + few);
    CHECK(last.records.size() > abi::kept_records / 2);
}
