// The section of callers: written, found by an index, read, and used for a trace.
#include "catch_2_or_3.hpp"
#include "reading/naming.hpp"
#include "reading_all.hpp"
#include "symbols/symbols.hpp"

using namespace mmioscope;
using namespace mmioscope::test;
using trace::Caller;
using trace::lr_holds;

namespace {

constexpr std::uint32_t function = 0xc000'0000, other = 0xc010'0000;

/// `sections` of `each` records of two CPUs; in each section, each CPU's third and fourth record
/// have a separate caller.
Bytes trace_with_callers(std::uint32_t sections, std::uint32_t each) {
    return trace_bytes([=](trace::FileWriter& writer) {
        write_info(writer);
        for (std::uint32_t i = 0; i < sections; ++i) {
            for (std::uint32_t n = 0; n < each; ++n) {
                const std::uint32_t cpu = n % 2;
                const abi::Record record = access(cpu, i * each / 2 + n / 2, 1000 + i * each + n);
                const Caller caller = other + 4 * (2 * i + cpu);
                const bool elsewhere = n / 2 == 2 || n / 2 == 3;
                writer.append(std::span(&record, 1), std::span(&caller, elsewhere ? 1 : 0));
            }
            writer.flush();
        }
        writer.finish(0, abi::Ending::machine_off);
    });
}

/// Checks the callers of the records with wanted times. Returns their number.
unsigned check_callers(const Bytes& bytes, std::uint32_t each,
                       std::optional<trace::TimeSpan> times = {}) {
    MemorySource source(bytes);
    trace::TraceReader reader(source, [](const std::string& text) { FAIL(text); });
    if (times) {
        reader.select({*times, {}, false});
    }
    unsigned found = 0;
    for (auto block = reader.next(); !block.empty(); block = reader.next()) {
        std::uint64_t number = reader.first_number();
        for (const abi::Record& record : block) {
            const std::uint32_t section = record.cpu_sequence / (each / 2);
            const std::uint32_t place = record.cpu_sequence % (each / 2);
            const Caller caller = reader.caller_of(number++);
            REQUIRE((caller != lr_holds) == (place == 2 || place == 3));
            if (caller != lr_holds) {
                REQUIRE(caller == other + 4 * (2 * section + record.cpu));
                found += !times || times->overlaps({record.time, record.time}) ? 1 : 0;
            }
        }
    }
    return found;
}

} // namespace

TEST_CASE("callers are written before their records and belong to no others", "[callers]") {
    CHECK(check_callers(trace_with_callers(5, 20), 20) == 20);
    // A section without callers after one with callers.
    const Bytes bytes = trace_bytes([](trace::FileWriter& writer) {
        write_info(writer);
        const abi::Record records[2] = {access(0, 0, 1), access(0, 1, 2)};
        writer.append(std::span(records, 1), std::span(&other, 1));
        writer.flush();
        writer.append(std::span(records + 1, 1));
        writer.finish(0, abi::Ending::machine_off);
    });
    MemorySource source(bytes);
    trace::TraceReader reader(source, [](const std::string& text) { FAIL(text); });
    reader.next();
    CHECK(reader.caller_of(1) == other);
    CHECK(reader.caller_of(2) == lr_holds); // of another block
    CHECK(reader.caller_of(0) == lr_holds);
    reader.next();
    CHECK(reader.caller_of(1) == lr_holds);
    CHECK(reader.caller_of(2) == lr_holds);
}

TEST_CASE("each caller belongs to the record with which it was appended", "[callers]") {
    // In pieces, some without callers, across the end of a section.
    const std::uint32_t count = 40'000;
    std::vector<Caller> callers(count, lr_holds);
    const Bytes bytes = trace_bytes([&](trace::FileWriter& writer) {
        write_info(writer);
        for (std::uint32_t i = 0; i < count;) {
            const std::uint32_t n = std::min(count - i, 1 + i % 301);
            std::vector<abi::Record> records;
            for (std::uint32_t at = i; at < i + n; ++at) {
                records.push_back(access(0, at, at));
                callers[at] = i % 3 == 0 ? lr_holds : at % 5 == 0 ? 0 : other + at;
            }
            const auto of = std::span(callers).subspan(i, n);
            writer.append(records, i % 3 == 0 ? std::span<Caller>() : of);
            i += n;
        }
        writer.finish(0, abi::Ending::machine_off);
    });
    MemorySource source(bytes);
    trace::TraceReader reader(source, [](const std::string& text) { FAIL(text); });
    std::uint32_t number = 0;
    for (auto block = reader.next(); !block.empty(); block = reader.next()) {
        for (std::size_t i = 0; i < block.size(); ++i, ++number) {
            REQUIRE(reader.caller_of(number + 1) == callers[number]);
        }
    }
    CHECK(number == count);
}

TEST_CASE("callers do not prevent reading a range of time without the rest", "[callers]") {
    // With 1022 records a stretch is full between a section's callers and its records.
    const std::uint32_t each = GENERATE(2000u, 1022u);
    const Bytes bytes = trace_with_callers(40, each);
    const std::size_t index = headers(bytes)[headers(bytes).size() - 2].first;
    const Bytes cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(index));
    for (std::uint32_t section = 0; section < 40; ++section) {
        const std::uint64_t first = 1000 + section * each;
        const trace::TimeSpan times{first, first + each - 1};
        CHECK(check_callers(bytes, each, times) == 4);
        CHECK(check_callers(cut, each, times) == 4); // without an index
        MemorySource source(bytes);
        Watched watched(source);
        ReadAll(watched, times);
        CHECK(watched.count() < bytes.size() / 4);
    }
}

TEST_CASE("a section of callers may have any length and content", "[callers]") {
    const std::vector<Caller> words = {other, other + 4, 0, 1, other + 16};
    // Too short by a record or a byte: nothing is known. Too long: the rest is ignored.
    for (const std::size_t size : {0u, 4u, 8u, 11u, 12u, 14u, 20u}) {
        const Bytes bytes = trace_bytes([&](trace::FileWriter& writer) {
            write_info(writer);
            writer.values(trace::callers_section,
                          std::span<const Caller>(words)); // not the last one
            writer.section(trace::callers_section, std::as_bytes(std::span(words)).first(size));
            const abi::Record records[3] = {access(0, 0, 1), access(0, 1, 2), access(0, 2, 3)};
            writer.append(records);
            writer.flush();
            writer.section(trace::callers_section, std::as_bytes(std::span(words)).first(size));
            writer.finish(0, abi::Ending::machine_off);
        });
        MemorySource source(bytes);
        trace::TraceReader reader(source, [](const std::string& text) { FAIL(text); });
        REQUIRE(reader.next().size() == 3);
        for (std::size_t i = 0; i < 3; ++i) {
            CHECK(reader.caller_of(i + 1) == (size < 12 ? lr_holds : words[i]));
        }
        CHECK(reader.next().empty());
        CHECK(reader.sound());
    }
}

TEST_CASE("callers stay valid if another section comes before their records", "[callers]") {
    // Another section, larger than these: intact or damaged.
    const std::vector<std::byte> large(300'000, std::byte{'x'});
    const Caller callers[2] = {other, other + 4};
    const abi::Record records[2] = {access(0, 0, 1), access(0, 1, 2)};
    Bytes bytes = trace_bytes([&](trace::FileWriter& writer) {
        write_info(writer);
        writer.append(records, callers);
        writer.flush();
        writer.values(trace::callers_section, std::span<const Caller>(callers));
        writer.section(abi::SectionType::text, large);
        writer.append(records);
        writer.finish(0, abi::Ending::machine_off);
    });
    for (const bool damaged : {false, true}) {
        if (damaged) {
            bytes[bytes.size() - 250'000] ^= std::byte{1};
        }
        unsigned complaints = 0;
        MemorySource source(bytes);
        trace::TraceReader reader(source, [&](const std::string&) { ++complaints; });
        REQUIRE(reader.next().size() == 2);
        CHECK(reader.caller_of(2) == other + 4);
        REQUIRE(reader.next().size() == 2);
        CHECK(reader.caller_of(4) == other + 4);
        CHECK(complaints == (damaged ? 1 : 0));
    }
}

TEST_CASE("callers of damaged records are not those of the next records", "[callers]") {
    const Caller callers[2] = {other, other + 4};
    const abi::Record records[2] = {access(0, 0, 1), access(0, 1, 2)};
    Bytes bytes = trace_bytes([&](trace::FileWriter& writer) {
        write_info(writer);
        writer.append(records, callers);
        writer.flush();
        writer.append(records);
        writer.finish(0, abi::Ending::machine_off);
    });
    for (const auto& [at, header] : headers(bytes)) {
        if (header.type == abi::SectionType::records) { // the first
            bytes[at + sizeof header] ^= std::byte{1};
            break;
        }
    }
    MemorySource source(bytes);
    trace::TraceReader reader(source, [](const std::string&) {});
    REQUIRE(reader.next().size() == 2);
    CHECK(reader.caller_of(3) == lr_holds);
    CHECK(reader.caller_of(4) == lr_holds);
}

TEST_CASE("an event has the caller from the trace, or else from LR", "[callers]") {
    const Bytes bytes = trace_bytes([](trace::FileWriter& writer) {
        write_info(writer);
        const Caller callers[] = {lr_holds, other + 8, 0, lr_holds};
        for (std::uint32_t i = 0; i < 4; ++i) {
            abi::Record record = access(0, i, i);
            record.lr = i == 3 ? function + 8 : other + 0x108;
            writer.append(std::span(&record, 1), std::span(callers + i, 1));
        }
        writer.finish(0, abi::Ending::machine_off);
    });
    MemorySource source(bytes);
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
    Event event = naming.event(records[0], 1);
    REQUIRE(event.caller() != nullptr);
    CHECK(event.caller()->function == "before");
    event = naming.event(records[1], 2);
    REQUIRE(event.caller() != nullptr);
    CHECK(event.caller()->function == "driver");
    CHECK(event.caller()->offset == 8);
    CHECK(event.record.lr == other + 0x108); // unchanged
    CHECK(naming.event(records[2], 3).caller() == nullptr);
    CHECK(naming.event(records[3], 4).caller() == nullptr); // in the same function
    naming.hide_code();
    CHECK(naming.event(records[1], 2).caller() == nullptr);
    CHECK(naming.event(records[1], 2).record.lr == 0);
}
