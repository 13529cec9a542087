// Runs of records: each record is in a run, and shares what runs promise.
#include "catch_2_or_3.hpp"
#include "file/file_writer.hpp"
#include "records.hpp"
#include "records/runs.hpp"

#include <random>

using namespace mmioscope;
using namespace mmioscope::test;
using trace::Run;
using trace::RunsOf;

namespace {

/// Mostly each continues the previous one.
std::vector<abi::Record> some_records(unsigned seed) {
    std::mt19937 random(seed);
    const auto one_of = [&](unsigned few) { return static_cast<std::uint32_t>(random() % few); };
    std::vector<abi::Record> records;
    abi::Record record = access(0, 0xffff'ff00, 1'000'000);
    for (unsigned i = 0; i < 3000; ++i) {
        ++record.cpu_sequence;
        record.time += one_of(3);
        switch (one_of(40)) {
        case 0: record.cpu = static_cast<std::uint8_t>(one_of(3)); break;
        case 1: record.device = static_cast<std::uint16_t>(one_of(3)); break;
        case 2: record.type = static_cast<abi::RecordType>(1 + one_of(80) % 77); break;
        case 3: record.cpu_sequence += one_of(3) - 1; break;
        case 4: record.time -= one_of(5000); break;
        case 5: record.task = one_of(2); break;
        case 6: record.mode = static_cast<std::uint8_t>(one_of(2)); break;
        case 7: record.cpu_sequence = 0xffff'fff0; break;
        case 8: record.flags = static_cast<std::uint8_t>(one_of(2)); break;
        case 9: record.pa_high = static_cast<std::uint8_t>(one_of(2)); break;
        default: record.type = abi::RecordType::access;
        }
        record.access = abi::encode_access(one_of(2) == 0, 2);
        records.push_back(record);
    }
    return records;
}

bool goes_on(const abi::Record& a, const abi::Record& b, RunsOf of) {
    return a.type == abi::RecordType::access && b.type == a.type && b.cpu == a.cpu &&
           b.device == a.device && b.flags == a.flags && b.pa_high == a.pa_high &&
           b.cpu_sequence == a.cpu_sequence + std::uint64_t{1} &&
           (of == RunsOf::cpu || b.time >= a.time) &&
           (of != RunsOf::task || (b.task == a.task && b.mode == a.mode));
}

template <RunsOf of>
void check_runs(std::span<const abi::Record> records) {
    const abi::Record* next = records.data();
    std::size_t longest = 0;
    trace::for_each_run<of>(records, [&](const Run& run) {
        REQUIRE(run.first == next);
        REQUIRE(run.last == run.first + run.count - 1);
        std::size_t writes = 0;
        for (std::size_t i = 0; i < run.count; ++i) {
            writes += abi::is_write(run.first[i]) ? 1 : 0;
            REQUIRE((i == 0 || goes_on(run.first[i - 1], run.first[i], of)));
        }
        REQUIRE(run.writes == writes);
        next += run.count;
        REQUIRE((next == records.data() + records.size() || !goes_on(*run.last, *next, of)));
        longest = std::max(longest, run.count);
    });
    CHECK(next == records.data() + records.size());
    CHECK(longest > 10);
}

} // namespace

TEST_CASE("a run has exactly the records that are alike") {
    const unsigned seed = GENERATE(range(0u, 10u));
    const std::vector<abi::Record> records = some_records(seed);
    check_runs<RunsOf::cpu>(records);
    check_runs<RunsOf::time>(records);
    check_runs<RunsOf::task>(records);
}

TEST_CASE("runs of events equal those of their records") {
    const std::vector<abi::Record> records = some_records(1);
    std::vector<Event> events(records.size());
    for (std::size_t i = 0; i < records.size(); ++i) {
        events[i].record = records[i];
    }
    std::vector<std::size_t> of_records, of_events;
    const auto count_in = [](auto& counts) {
        return [&](const Run& run) { counts.push_back(run.count); };
    };
    trace::for_each_run(std::span<const abi::Record>(records), count_in(of_records));
    trace::for_each_run(std::span<const Event>(events), count_in(of_events));
    CHECK(of_records == of_events);
}

TEST_CASE("a file is the same whether or not its writer is given the runs of records") {
    const unsigned seed = GENERATE(range(0u, 10u));
    const std::vector<abi::Record> records = some_records(seed);
    std::mt19937 random(seed);
    std::vector<std::span<const abi::Record>> pieces;
    for (std::span<const abi::Record> rest = records; !rest.empty();) {
        pieces.push_back(rest.first(std::min<std::size_t>(rest.size(), 1 + random() % 1500)));
        rest = rest.subspan(pieces.back().size());
    }
    const auto untold = trace_bytes([&](trace::FileWriter& writer) {
        for (const auto piece : pieces) {
            writer.append(piece);
            writer.flush();
        }
        writer.finish(0, abi::Ending::machine_off);
    });
    for (const std::size_t most : {std::size_t{1}, std::size_t{7},
                                   records.size()}) { // the runs of each section passed to it
        const std::vector<std::byte> told_of = trace_bytes([&](trace::FileWriter& writer) {
            for (const auto piece : pieces) {
                writer.pending().assign(piece.begin(), piece.end());
                std::size_t reported = 0;
                trace::for_each_run<RunsOf::time, abi::Record>(writer.next_section(), [&](const Run& run) {
                    if (reported++ < most) {
                        writer.seen(run);
                    }
                });
                writer.flush();
            }
            writer.finish(0, abi::Ending::machine_off);
        });
        CHECK((untold == told_of)); // not as text: it is long
    }
}
