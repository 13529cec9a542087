// Missing records of a trace: counted once, however many they are.
#include "file/trace_check.hpp"
#include "reading/tally.hpp"
#include "records.hpp"
#include "records/losses.hpp"
#include "records/summary.hpp"
#include "system/byte_source.hpp"
#include "system/error.hpp"
#include "view/top_screen.hpp"

#include <algorithm>
#include <array>
#include <random>

using namespace mmioscope;
using namespace mmioscope::test;

namespace {

abi::Record gap(unsigned cpu, std::uint32_t sequence, std::uint64_t count) {
    abi::Record record = access(cpu, sequence, 10);
    record.type = abi::RecordType::gap;
    record.device = abi::no_device;
    record.value = count;
    return record;
}

std::uint32_t below(std::mt19937& random, std::uint32_t limit) {
    return static_cast<std::uint32_t>(random() % limit);
}

} // namespace

TEST_CASE("a run of missing records is one loss, in however many pieces it is reported") {
    trace::LossCounter counter(2);
    counter.add(access(0, 0, 1));
    for (std::uint32_t i = 3; i < 1003; ++i) { // 1 and 2 are a hole
        counter.add(gap(0, i, 1));
        counter.add(access(1, i - 3, 1));
    }
    counter.add(access(0, 1003, 1));
    counter.add(gap(0, 1004, 5));
    REQUIRE(counter.losses().size() == 2);
    CHECK((counter.losses()[0].first_sequence == 1 && counter.losses()[0].count == 1002));
    CHECK((counter.losses()[1].first_sequence == 1004 && counter.losses()[1].count == 5));
    CHECK(counter.lost() == 1007);
}

TEST_CASE("of what is lost, records of other kinds are told apart if the writer counts them") {
    trace::LossCounter counter(2);
    abi::Record mark = access(0, 1, 2);
    mark.type = abi::RecordType::marker;
    counter.add(access(0, 0, 1));
    counter.add(mark);
    counter.add(access(0, 6, 3)); // 2 to 5 are a hole
    counter.add(access(1, 0, 4));
    CHECK(text_of(counter.all_lost()) == "4 records lost");
    SECTION("a number that was counted with all records") {
        counter.set_others(0, 7, 1 + 3);
        CHECK(text_of(counter.all_lost()) == "1 lost, 3 other records lost");
        counter.finish(0, 2); // two more, behind the last one
        CHECK(text_of(counter.all_lost()) == "6 records lost");
        counter.set_others(0, 9, 1 + 3);
        CHECK(text_of(counter.all_lost()) == "3 lost, 3 other records lost");
        counter.set_others(0, 9, 1 + 6);
        CHECK(text_of(counter.all_lost()) == "0 lost, 6 other records lost");
        counter.set_others(0, 9, 1);
        CHECK(text_of(counter.all_lost()) == "6 lost");
    }
    SECTION("one of another moment, or an impossible one, is not used") {
        counter.set_others(0, 8, 1 + 3);
        CHECK(text_of(counter.all_lost()) == "4 records lost");
        counter.set_others(0, 7, 1 + 5);
        CHECK(text_of(counter.all_lost()) == "4 records lost");
        counter.set_others(0, 7, 0);
        CHECK(text_of(counter.all_lost()) == "4 records lost");
    }
    SECTION("one CPU of two does not tell") {
        counter.set_others(0, 7, 1);
        counter.add(access(1, 3, 5));
        CHECK(text_of(counter.all_lost()) == "6 records lost");
        counter.set_others(1, 4, 2);
        CHECK(text_of(counter.all_lost()) == "4 lost, 2 other records lost");
    }
}

TEST_CASE("losses and counts are the same from single records and from any pieces") {
    for (unsigned seed = 0; seed < 50; ++seed) {
        std::mt19937 random(seed);
        std::array<std::uint32_t, 3> sequences{0, 0xffff'ff80, 0x7fff'ffa0};
        std::vector<abi::Record> records;
        unsigned cpu = 0;
        for (std::uint64_t time = 0; time < 2000; ++time) {
            cpu = below(random, 8) == 0 ? below(random, 3) : cpu;
            std::uint32_t& sequence = sequences[cpu];
            sequence += below(random, 64) == 0 ? below(random, 20) : 0;
            sequence -= below(random, 256) == 0 ? 5 : 0;
            const std::uint32_t lost = below(random, 64) == 0 ? 1 + below(random, 20) : 1;
            records.push_back(lost > 1 ? gap(cpu, sequence, lost) : access(cpu, sequence, time));
            records.back().time = time;
            records.back().device =
                static_cast<std::uint16_t>(below(random, 16) == 0 ? below(random, 3) : 0);
            records.back().access = abi::encode_access(below(random, 2) == 0, 2);
            sequence += lost;
        }
        trace::LossCounter one(3), pieces(3);
        trace::Summary counted_one, counted_pieces;
        for (const abi::Record& record : records) {
            one.add(record);
            counted_one.add(record);
        }
        for (std::span<const abi::Record> rest = records; !rest.empty();) {
            const std::span piece =
                rest.first(std::min<std::size_t>(rest.size(), below(random, 300)));
            trace::add_runs(piece, pieces, counted_pieces);
            rest = rest.subspan(piece.size());
        }
        const auto same = [](const abi::Loss& a, const abi::Loss& b) {
            return a.cpu == b.cpu && a.first_sequence == b.first_sequence && a.count == b.count &&
                   a.time == b.time;
        };
        CHECK(std::ranges::equal(one.losses(), pieces.losses(), same));
        CHECK(one.lost() == pieces.lost());
        CHECK(!one.losses().empty());
        for (unsigned n = 0; n < 3; ++n) {
            one.finish(n, 1'000'000); // after the last record, with its time
            pieces.finish(n, 1'000'000);
        }
        CHECK(std::ranges::equal(one.losses(), pieces.losses(), same));
        CHECK(counted_one.start() == counted_pieces.start());
        CHECK(counted_one.last() == counted_pieces.last());
        CHECK(counted_one.records() == counted_pieces.records());
        CHECK(counted_one.count(abi::RecordType::gap) ==
              counted_pieces.count(abi::RecordType::gap));
        const auto as_told = [](const auto& a, const auto& b) {
            return a.first == b.first && a.second.reads == b.second.reads &&
                   a.second.writes == b.second.writes && a.second.cpus == b.second.cpus &&
                   a.second.first_time == b.second.first_time &&
                   a.second.last_time == b.second.last_time;
        };
        CHECK(std::ranges::equal(counted_one.devices(), counted_pieces.devices(), as_told));
        std::uint64_t writes = 0;
        for (const abi::Record& record : records) {
            writes += record.type == abi::RecordType::access && record.device == 1 &&
                      abi::is_write(record);
        }
        CHECK(counted_pieces.devices().at(1).writes == writes);
    }
}

TEST_CASE("losses of a recording in several files are split between the files") {
    trace::LossCounter counter(2);
    counter.add(gap(0, 0, 3));
    counter.add(gap(1, 0, 1));
    const std::vector<abi::Loss> before = counter.losses();
    CHECK(counter.losses_since({}).size() == 2);
    CHECK(counter.losses_since(before).empty());
    counter.add(gap(0, 3, 2)); // continues
    counter.add(access(1, 1, 10));
    counter.add(access(1, 7, 10));
    const std::vector<abi::Loss> since = counter.losses_since(before);
    REQUIRE(since.size() == 2);
    CHECK((since[0].cpu == 0 && since[0].first_sequence == 3 && since[0].count == 2));
    CHECK((since[1].cpu == 1 && since[1].first_sequence == 2 && since[1].count == 5));
}

TEST_CASE("the list of losses never exceeds what a file may hold, and all losses count") {
    trace::LossCounter counter(3);
    for (std::uint32_t i = 0; i < 200'000; ++i) {
        counter.add(access(i % 2, i / 2 * 3 + 2, i)); // two are missing each time
    }
    counter.add(gap(2, 0, 7));
    counter.finish_at(2, 100);
    CHECK(counter.losses().size() <= (1u << 16) + 3);
    CHECK(counter.lost() == 400'100);
    CHECK(trace::sum_of(counter.losses()) == counter.lost());
    std::uint64_t of_last = 0;
    for (const abi::Loss& loss : counter.losses()) {
        of_last += loss.cpu == 2 ? loss.count : 0;
    }
    CHECK(of_last == 100);
    const std::vector<std::byte> bytes = trace_bytes([&](trace::FileWriter& writer) {
        write_info(writer, 3);
        writer.values(abi::SectionType::losses, std::span<const abi::Loss>(counter.losses()));
        writer.finish(counter.lost(), abi::Ending::machine_off);
    });
    MemorySource source(bytes);
    CHECK(trace::check_trace(source).lossy);
}

TEST_CASE("a section larger than readers accept is not written") {
    const std::vector<std::byte> most(16u << 20);
    trace_bytes([&](trace::FileWriter& writer) {
        writer.section(abi::SectionType::device_tree, most);
        const std::vector<std::byte> more(most.size() + 1);
        CHECK_THROWS_WITH(
            writer.section(abi::SectionType::device_tree, more),
            "cannot write the trace: 16777217 bytes in one section, more than readers take");
    });
}

TEST_CASE("the number of losses stays at its maximum instead of wrapping") {
    trace::LossCounter counter(1);
    counter.add(gap(0, 0, UINT64_MAX));
    counter.add(gap(0, UINT32_MAX, 1));
    counter.add(gap(0, 5, 3));
    CHECK(counter.lost() == UINT64_MAX);
    const std::vector<abi::Loss> losses = {{0, 0, UINT64_MAX, 1}, {0, 9, 1, 1}};
    const std::vector<std::byte> bytes = trace_bytes([&](trace::FileWriter& writer) {
        write_info(writer);
        writer.values(abi::SectionType::losses, std::span<const abi::Loss>(losses));
        writer.finish(0, abi::Ending::machine_off);
    });
    MemorySource source(bytes);
    const trace::CheckResult result = trace::check_trace(source);
    CHECK_FALSE(result.sound());
    CHECK(result.lost.records == UINT64_MAX);
    MemorySource again(bytes);
    trace::TraceReader reader(again, [](const std::string& text) { FAIL(text); });
    CHECK(reader.sound());
    CHECK(reading::status_of(reader) == Status::failed);
}

TEST_CASE("a missing number is a loss of what was read so far, if everything was to be read") {
    const std::vector<std::byte> bytes = trace_bytes([](trace::FileWriter& writer) {
        write_info(writer);
        const abi::Record records[] = {access(0, 0, 10), access(0, 3, 20)};
        writer.append(records);
        writer.flush();
    });
    MemorySource source(bytes);
    trace::TraceReader reader(source, [](const std::string& text) { FAIL(text); });
    reading::Tally all(false);
    reading::Tally some(true);
    view::TopCounts counts;
    view::TopCounts chosen;
    chosen.numbers_tell = false;
    for (const abi::Record& record : reader.next()) {
        Event event;
        event.record = record;
        all.add(event);
        some.add(event);
        counts.add(event);
        chosen.add(event);
    }
    CHECK(all.status_so_far(reader) == Status::failed);
    CHECK(some.status_so_far(reader) == Status::fine);
    CHECK(counts.head.lost == 2);
    CHECK(chosen.head.lost == 0);
}

TEST_CASE("losses that a trace reports count, whatever was selected from it") {
    const std::vector<std::byte> bytes = trace_bytes([](trace::FileWriter& writer) {
        write_info(writer);
        const abi::Record record = access(0, 0, 10);
        writer.append(std::span(&record, 1));
        const abi::Loss loss{0, 1, 9, 10};
        writer.values(abi::SectionType::losses, std::span(&loss, 1));
        writer.finish(9, abi::Ending::machine_off);
    });
    MemorySource source(bytes);
    trace::TraceReader reader(source, [](const std::string& text) { FAIL(text); });
    while (!reader.next().empty()) {
    }
    CHECK(reading::Tally(true).status_so_far(reader) == Status::failed);
    view::TopCounts counts;
    counts.finish_with(reader);
    CHECK(counts.head.lost == 9);
}

TEST_CASE("a trace that is not read to its end is fine if nothing was lost so far") {
    const std::vector<std::byte> bytes = trace_bytes([](trace::FileWriter& writer) {
        write_info(writer);
        const abi::Record records[] = {access(0, 0, 10), gap(0, 1, 5)};
        writer.append(records);
        writer.flush();
    });
    MemorySource source(bytes);
    trace::TraceReader reader(source, [](const std::string& text) { FAIL(text); });
    reading::Tally tally(false);
    for (const abi::Record& record : reader.next()) {
        Event event;
        event.record = record;
        tally.add(event);
        const bool lost = record.type == abi::RecordType::gap;
        CHECK(tally.status_so_far(reader) == (lost ? Status::failed : Status::fine));
    }
    CHECK(reading::status_of(reader) == Status::failed);
}
