// `mmioscope check`: a sound trace is sound, and each fault of another one is reported.
#include "file/trace_check.hpp"
#include "reading_all.hpp"
#include "system/crc.hpp"
#include "table/table.hpp"
#include "view/short_tables.hpp"

using namespace mmioscope;
using namespace mmioscope::test;

namespace {

using Records = std::vector<abi::Record>;
using Change = std::function<void(Records&)>;

Bytes trace_of(const Change& change = {}, std::vector<abi::Loss> losses = {},
               std::uint64_t lost = 0) {
    Records records;
    for (std::uint32_t i = 0; i < 5000; ++i) {
        records.push_back(access(i % 2, i / 2, 1000 + i));
        records.back().lock_sequence = i;
    }
    if (change) {
        change(records);
    }
    return trace_bytes([&](trace::FileWriter& writer) {
        write_info(writer);
        write_regions(writer, {region(0x1c09'0000, 0x1000, "/bus/serial@90000")});
        for (std::size_t n = 0; n < records.size(); n += 1000) {
            writer.append(std::span(records).subspan(n).first(
                std::min<std::size_t>(1000, records.size() - n)));
            writer.flush();
        }
        writer.values(abi::SectionType::losses, std::span<const abi::Loss>(losses));
        writer.finish(lost, abi::Ending::machine_off);
    });
}

trace::CheckResult check(const Bytes& bytes, bool seeks = true) {
    MemorySource source(bytes);
    Watched watched(source, seeks);
    return trace::check_trace(watched);
}

/// All lines, for Contains().
std::string report_of(const trace::CheckResult& result) {
    std::string all;
    for (const std::string& line : result.problems) {
        all += line + "\n";
    }
    return all;
}

Bytes changed(Bytes bytes, abi::SectionType type,
              const std::function<void(std::span<std::byte>)>& change) {
    for (auto [at, header] : headers(bytes)) {
        if (header.type == type) {
            const std::span payload(bytes.data() + at + sizeof header, header.size);
            change(payload);
            header.crc = crc(payload);
            header.header_crc = crc_before(header, offsetof(abi::SectionHeader, header_crc));
            std::memcpy(bytes.data() + at, &header, sizeof header);
            return bytes;
        }
    }
    FAIL("no such section");
    return bytes;
}

} // namespace

TEST_CASE("a sound trace passes the check") {
    for (const bool seeks : {true, false}) {
        const trace::CheckResult result = check(trace_of(), seeks);
        CHECK(report_of(result).empty());
        CHECK(result.records == 5000);
        CHECK(result.sections == 10);
        CHECK(result.lost.records == 0);
    }
    // A file that continues another one, and a record that a CPU published late.
    CHECK(report_of(check(trace_of([](Records& records) {
              records.erase(records.begin(), records.begin() + 1111);
              records[99].time = records[98].time;
              records[100].time = records[98].time - 1;
          }))).empty());
}

TEST_CASE("errors in the records are reported") {
    const auto line_of = [](const Change& change) { return report_of(check(trace_of(change))); };
    CHECK_THAT(line_of([](Records& records) { records.erase(records.begin() + 2000); }),
               Catch::Contains("record 2001: cpu 0 lacks 1 records from sequence 1000 on") &&
                   Catch::Contains("1 records are missing, the file reports 0"));
    CHECK_THAT(line_of([](Records& records) { std::swap(records[2000], records[2002]); }),
               Catch::Contains("record 2001: region 0 goes from access 2002 to 2001") &&
                   Catch::Contains("record 2002: cpu 0 goes back to sequence 1000 from 1001") &&
                   Catch::Contains("record 2001: cpu 1: tick 3001 comes after tick 3002"));
    CHECK_THAT(line_of([](Records& records) { records[7].lock_sequence = 6; }),
               Catch::Contains("record 7: region 0 goes from access 6 to 6"));
    const trace::CheckResult all = check(trace_of([](Records& records) {
        for (abi::Record& record : records) {
            record.cpu_sequence = 0;
        }
    }));
    CHECK(all.problems.size() == trace::most_problems);
    CHECK(all.more_problems == 5000 - 2 - trace::most_problems);
}

TEST_CASE("losses that a trace reports make it lossy, other losses make it damaged") {
    const Change gap = [](Records& records) {
        records[2000].type = abi::RecordType::gap;
        records[2000].value = 3;
        for (std::size_t n = 2002; n < records.size(); n += 2) {
            records[n].cpu_sequence += 2;
        }
    };
    const trace::CheckResult lossy = check(trace_of(gap, {{0, 1000, 3, 3000}}, 3));
    CHECK(lossy.lossy);
    CHECK_FALSE(lossy.sound());
    CHECK(lossy.lost.records == 3);
    CHECK_THAT(report_of(lossy),
               Catch::Contains("record 2000: cpu 0 lost 3 records from sequence 1000 on") &&
                   Catch::Contains("3 records were lost while recording"));
    const trace::CheckResult untold = check(trace_of(gap));
    CHECK_FALSE(untold.lossy);
    CHECK_FALSE(untold.cut);
    CHECK_THAT(report_of(check(trace_of(gap, {{0, 1000, 3, 3000}}, 2))),
               Catch::Contains("the end counts 2 lost records, the losses 3"));
}

TEST_CASE("errors in the file are reported") {
    const Bytes whole = trace_of();
    const auto all = headers(whole);
    Bytes cut = whole;
    cut.resize(all[5].first + 1000);
    const trace::CheckResult result = check(cut);
    CHECK(result.cut);
    CHECK_THAT(report_of(result), Catch::Contains("the file ends within the section at byte") &&
                                      Catch::Contains("the file is cut: its end is missing"));
    Bytes flipped = whole;
    flipped[all[4].first + 5000] ^= std::byte{1};
    CHECK_THAT(report_of(check(flipped)),
               Catch::Contains("is damaged: skipped") &&
                   Catch::Contains("the end counts 5000 records, the file has 4000"));
    Bytes longer = whole;
    longer.insert(longer.end(), whole.begin() + 32, whole.begin() + std::ptrdiff_t(all[1].first));
    CHECK_THAT(report_of(check(longer)), Catch::Contains("a section follows the end"));
}

TEST_CASE("no byte of a trace can change unnoticed") {
    const Bytes whole = trace_of([](Records& records) { records.resize(20); });
    for (std::size_t at = sizeof(abi::FileHeader); at < whole.size(); ++at) {
        Bytes bytes = whole;
        bytes[at] ^= std::byte{0x10};
        REQUIRE(!check(bytes).sound());
    }
}

TEST_CASE("an index that does not match the file is reported") {
    const auto with = [](std::size_t offset) {
        return report_of(
            check(changed(trace_of(), abi::SectionType::index, [&](std::span<std::byte> payload) {
                payload[sizeof(abi::IndexHeader) + sizeof(abi::IndexEntry) + offset] ^=
                    std::byte{1};
            })));
    };
    for (const std::size_t field :
         {offsetof(abi::IndexEntry, records_before), offsetof(abi::IndexEntry, earliest),
          offsetof(abi::IndexEntry, latest), offsetof(abi::IndexEntry, types)}) {
        CHECK_THAT(with(field), Catch::Contains("the index is wrong about byte"));
    }
    const Bytes moved =
        changed(trace_of(), abi::SectionType::end, [](std::span<std::byte> payload) {
            payload[offsetof(abi::End, index_offset)] ^= std::byte{8};
        });
    CHECK_THAT(report_of(check(moved)), Catch::Contains("the end has the index at byte"));
}

TEST_CASE("problems and the verdict are printed as lines and as rows") {
    trace::CheckResult result;
    result.problems = {"record 7: \"x\", y"};
    result.more_problems = 3;
    result.records = 10;
    result.sections = 4;
    result.lost = {2, std::nullopt};
    table::Table table = view::check_table();
    view::append(table, "a.mmio", result);
    CHECK(table::text(table) == "a.mmio: record 7: \"x\", y\n"
                                "a.mmio: ... and 3 more\n"
                                "a.mmio: damaged: 10 records in 4 sections, 2 records lost\n");
    result = {};
    view::append(table, "b,c.mmio", result);
    CHECK(table::csv(std::span(&table, 1)) ==
          "file,verdict,records,sections,lost,problem,lost_others\n"
          "a.mmio,,,,,\"record 7: \"\"x\"\", y\",\n"
          "a.mmio,,,,,... and 3 more,\n"
          "a.mmio,damaged,10,4,2,,\n"
          "\"b,c.mmio\",sound,0,0,0,,\n");
    table.rows.erase(table.rows.begin() + 1, table.rows.end() - 1);
    CHECK(
        table::jsonl(std::span(&table, 1)) ==
        "{\"file\":\"a.mmio\",\"problem\":\"record 7: \\\"x\\\", y\"}\n"
        "{\"file\":\"b,c.mmio\",\"verdict\":\"sound\",\"records\":0,\"sections\":0,\"lost\":0}\n");
}

TEST_CASE("the verdict has a word for each state") {
    const auto line = [](bool cut, bool lossy) {
        trace::CheckResult result;
        result.problems = {"a problem"};
        result.cut = cut;
        result.lossy = lossy;
        table::Table table = view::check_table();
        view::append(table, "f", result);
        return table::text(table);
    };
    CHECK_THAT(line(true, false), Catch::Contains("\nf: cut: "));
    CHECK_THAT(line(false, true), Catch::Contains("\nf: lossy: "));
    CHECK_THAT(line(false, false), Catch::Contains("\nf: damaged: "));
}
