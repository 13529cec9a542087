// The section of callers: written, found by an index, read, and what a trace makes of it.
#include "reading/naming.hpp"
#include "reading_all.hpp"
#include "symbols/function_table.hpp"

#include <catch2/catch.hpp>

using namespace mmioscope;
using namespace mmioscope::test;
using trace::CallerEntry;

namespace {

constexpr std::uint32_t function = 0xc000'0000, other = 0xc010'0000;

/// `sections` of `each` records of two CPUs; of each section, each CPU's third and fourth record
/// have a caller of their own.
Bytes trace_with_callers(std::uint32_t sections, std::uint32_t each) {
    return trace_bytes([=](trace::FileWriter& writer) {
        write_info(writer);
        for (std::uint32_t i = 0; i < sections; ++i) {
            const std::uint32_t first = i * each / 2;
            for (std::uint32_t cpu = 0; cpu < 2; ++cpu) {
                const CallerEntry entry{cpu, first + 2, 2, other + 4 * (2 * i + cpu)};
                writer.add(std::span(&entry, 1));
            }
            for (std::uint32_t n = 0; n < each; ++n) {
                const abi::Record record = access(n % 2, first + n / 2, 1000 + i * each + n);
                writer.append(std::span(&record, 1));
            }
            writer.flush();
        }
        writer.finish(0, abi::Ending::machine_off);
    });
}

/// Callers of the records of wanted times, checked; how many there are.
unsigned check_callers(const Bytes& bytes, std::uint32_t each,
                       std::optional<trace::TimeSpan> times = {}) {
    trace::MemorySource source(bytes);
    trace::TraceReader reader(source, [](const std::string& text) { FAIL(text); });
    if (times) {
        reader.select({*times, {}, false});
    }
    unsigned found = 0;
    for (auto block = reader.next(); !block.empty(); block = reader.next()) {
        for (const abi::Record& record : block) {
            const std::uint32_t section = record.cpu_sequence / (each / 2);
            const std::uint32_t place = record.cpu_sequence % (each / 2);
            const auto caller = reader.callers().of(record);
            REQUIRE(caller.has_value() == (place == 2 || place == 3));
            if (caller) {
                REQUIRE(*caller == other + 4 * (2 * section + record.cpu));
                found += !times || times->overlaps({record.time, record.time}) ? 1 : 0;
            }
        }
    }
    return found;
}

} // namespace

TEST_CASE("callers stand in front of their records, and are those of no others", "[callers]") {
    CHECK(check_callers(trace_with_callers(5, 20), 20) == 20);
    // A section without callers behind one that has them.
    const Bytes bytes = trace_bytes([](trace::FileWriter& writer) {
        write_info(writer);
        const CallerEntry entry{0, 0, 100, other};
        const abi::Record records[2] = {access(0, 0, 1), access(0, 1, 2)};
        writer.add(std::span(&entry, 1));
        writer.append(std::span(records, 1));
        writer.flush();
        writer.append(std::span(records + 1, 1));
        writer.finish(0, abi::Ending::machine_off);
    });
    trace::MemorySource source(bytes);
    trace::TraceReader reader(source, [](const std::string& text) { FAIL(text); });
    CHECK(reader.callers().of(reader.next()[0]) == other);
    CHECK(!reader.callers().of(reader.next()[0]));
}

TEST_CASE("callers do not keep a range of time from being found without the rest", "[callers]") {
    // Of 1022 records a stretch is full between a section's callers and its records.
    const std::uint32_t each = GENERATE(2000u, 1022u);
    const Bytes bytes = trace_with_callers(40, each);
    const std::size_t index = headers(bytes)[headers(bytes).size() - 2].first;
    const Bytes cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(index));
    for (std::uint32_t section = 0; section < 40; ++section) {
        const std::uint64_t first = 1000 + section * each;
        const trace::TimeSpan times{first, first + each - 1};
        CHECK(check_callers(bytes, each, times) == 4);
        CHECK(check_callers(cut, each, times) == 4); // without an index
        trace::MemorySource source(bytes);
        Watched watched(source);
        ReadAll(watched, times);
        CHECK(watched.count() < bytes.size() / 4);
    }
}

TEST_CASE("the section of callers may hold anything", "[callers]") {
    trace::CallerTable table;
    const std::vector<CallerEntry> wild = {
        {1, 5, 0xffff'ffff, 1}, {0, 0xffff'fff0, 0xffff'ffff, 2}, {0, 3, 0, 3}, {300, 0, 9, 4}};
    table.assign(std::as_bytes(std::span(wild)));
    CHECK(table.of(access(1, 4, 0)) == std::nullopt);
    CHECK(table.of(access(1, 6, 0)) == 1u);
    CHECK(table.of(access(0, 0xffff'fff1, 0)) == 2u);
    CHECK(!table.of(access(0, 3, 0)));
    CHECK(!table.of(access(44, 0, 0)));                     // 300 modulo 256
    table.assign(std::as_bytes(std::span(wild)).first(17)); // an entry and a piece
    CHECK(table.of(access(1, 5, 0)) == 1u);
    table.assign({});
    CHECK(!table.of(access(1, 5, 0)));
}

TEST_CASE("an event has the caller that the trace tells, or LR's", "[callers]") {
    const Bytes bytes = trace_bytes([](trace::FileWriter& writer) {
        write_info(writer);
        const CallerEntry entries[] = {{0, 1, 1, other + 8}, {0, 2, 1, 0}};
        writer.add(entries);
        for (std::uint32_t i = 0; i < 4; ++i) {
            abi::Record record = access(0, i, i);
            record.lr = i == 3 ? function + 8 : other + 0x108;
            writer.append(std::span(&record, 1));
        }
        writer.finish(0, abi::Ending::machine_off);
    });
    trace::MemorySource source(bytes);
    trace::TraceReader reader(source, [](const std::string& text) { FAIL(text); });
    reading::Naming naming(reader);
    naming.symbols().add(symbols::Trust::text,
                         std::make_unique<symbols::FunctionTable>(
                             symbols::SymbolList{{function, 't', "copy", ""},
                                                 {other, 't', "driver", ""},
                                                 {other + 0x100, 't', "before", ""},
                                                 {other + 0x200, 'D', "", ""}}));
    const auto records = reader.next();
    REQUIRE(records.size() == 4);
    Event event = naming.event(records[0]);
    REQUIRE(event.caller() != nullptr);
    CHECK(event.caller()->function == "before");
    event = naming.event(records[1]);
    REQUIRE(event.caller() != nullptr);
    CHECK(event.caller()->function == "driver");
    CHECK(event.caller()->offset == 8);
    CHECK(event.record.lr == other + 0x108); // as it was
    CHECK(naming.event(records[2]).caller() == nullptr);
    CHECK(naming.event(records[3]).caller() == nullptr); // in the same function
    naming.hide_code();
    CHECK(naming.event(records[1]).caller() == nullptr);
    CHECK(naming.event(records[1]).record.lr == 0);
}
