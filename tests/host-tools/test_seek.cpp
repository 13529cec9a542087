// Seeking in a trace: the rows are the same as after reading everything before them.
#include "../sim/random.hpp"
#include "file/packing.hpp"
#include "random_trace.hpp"
#include "reading/trace.hpp"
#include "reading_all.hpp"
#include "system/crc.hpp"
#include "wires.hpp"

#include <cstring>
#include <fstream>

using namespace mmioscope;
using namespace mmioscope::test;

namespace {

/// Everything visible of an event.
struct Row {
    std::uint64_t number = 0;
    std::uint64_t nanoseconds = 0;
    std::string names;

    bool operator==(const Row&) const = default;
};

std::ostream& operator<<(std::ostream& to, const Row& row) {
    return to << row.number << " at " << row.nanoseconds << ": " << row.names;
}

std::optional<Row> next_row(reading::Trace& trace) {
    const Event* const event = trace.next();
    return event == nullptr
               ? std::nullopt
               : std::optional(Row{event->number, event->nanoseconds, names_of(*event)});
}

std::vector<Row> rest(reading::Trace& trace, std::size_t most = SIZE_MAX) {
    std::vector<Row> rows;
    for (std::optional<Row> row; rows.size() < most && (row = next_row(trace));) {
        rows.push_back(*row);
    }
    return rows;
}

void save(const std::string& path, std::span<const std::byte> bytes) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
}

/// The sections of `bytes` number `from` to `to`, as file number `part` of a recording.
Bytes part_of(const Bytes& bytes, unsigned part, std::size_t from, std::size_t to) {
    const auto all = headers(bytes);
    return trace_bytes([&](trace::FileWriter& writer) {
        bool part_named = false;
        for (std::size_t i = 0; i < to; ++i) {
            const auto& [at, header] = all[i];
            const auto payload = std::span(bytes).subspan(at + sizeof header, header.size);
            const bool of_head = i < 6 && (header.type == abi::SectionType::info ||
                                           header.type == abi::SectionType::device_tree ||
                                           header.type == abi::SectionType::regions ||
                                           header.type == trace::symbols_section);
            if (i < from && !of_head) {
                continue;
            }
            if (!of_head && !std::exchange(part_named, true)) {
                writer.text(fmt::format("part={}\n", part));
            }
            if (header.type != abi::SectionType::records) {
                writer.section(header.type, payload);
                continue;
            }
            std::vector<abi::Record> records(payload.size() / sizeof(abi::Record));
            std::memcpy(records.data(), payload.data(), records.size() * sizeof(abi::Record));
            writer.append(records);
            writer.flush();
        }
        writer.finish(0, to == all.size() - 2 ? abi::Ending::machine_off : abi::Ending::continued);
    });
}

/// Writes a random trace of this kind to `folder`. Returns its path.
std::string make(const Folder& folder, const std::string& kind, unsigned seed) {
    // All files of a recording have the same devices.
    Bytes bytes = RandomTrace(seed, 30'000, kind != "rotated").bytes;
    const std::string path = folder / "t.mmio";
    if (kind == "cut") {
        bytes.resize(bytes.size() / 3 + seed * 1001 % (bytes.size() / 3));
    } else if (kind == "damaged") {
        for (const auto& [at, header] : headers(bytes)) {
            if (header.type == abi::SectionType::records && at % 5 == 0) {
                bytes[at + sizeof header + 9] ^= std::byte{1};
            }
        }
    } else if (kind == "rotated") {
        const std::size_t sections = headers(bytes).size() - 2;
        save(folder / "t.2.mmio", part_of(bytes, 2, sections / 3, sections / 2));
        save(folder / "t.3.mmio", part_of(bytes, 3, sections / 2, sections));
        bytes = part_of(bytes, 1, 0, sections / 3);
    }
    save(path, bytes);
    if (kind == "packed") {
        trace::pack_file(path, open_input(path).get(),
                         [](std::uint64_t, std::uint64_t) { return true; });
    }
    return path;
}

reading::TraceOptions options_of(const std::string& path) {
    reading::TraceOptions options;
    options.path = path;
    options.report = [](const std::string&) {};
    return options;
}

} // namespace

TEST_CASE("seek: a row reached by seeking equals the row reached by reading", "[seek]") {
    const std::string kind =
        GENERATE(as<std::string>(), "plain", "packed", "cut", "damaged", "rotated");
    const unsigned seed = GENERATE(range(1u, 1 + sim::seeds(1)));
    CAPTURE(kind, seed);
    const Folder folder;
    const reading::TraceOptions options = options_of(make(folder, kind, seed));
    reading::Trace all(options);
    const std::vector<Row> rows = rest(all);
    REQUIRE(rows.size() > 5'000);
    REQUIRE(all.reader().parts() == (kind == "rotated" ? 3u : 1u));
    Random random(seed);
    reading::Trace trace(options); // seeks back and forth
    for (unsigned n = 0; n < sim::seeds(25); ++n) {
        const std::size_t first = below(random, static_cast<std::uint32_t>(rows.size()));
        const std::size_t count = 1 + below(random, n % 4 == 0 ? 9'000 : 50);
        CAPTURE(n, first, count);
        const auto from = rows.begin() + static_cast<std::ptrdiff_t>(first);
        const std::size_t there = std::min(count, rows.size() - first);
        trace.seek_number(from->number);
        REQUIRE(rest(trace, there) ==
                std::vector<Row>(from, from + static_cast<std::ptrdiff_t>(there)));

        // Like `print --at`.
        reading::TraceOptions part = options;
        part.numbers = {from->number, from->number + count - 1};
        reading::Trace numbers(part);
        std::vector<Row> expected;
        for (auto row = from; row != rows.end() && row->number < from->number + count; ++row) {
            expected.push_back(*row);
        }
        REQUIRE(rest(numbers) == expected);

        // Also by time, which need not increase from record to record.
        const std::uint64_t to = from->nanoseconds + below(random, 200'000);
        part = options;
        part.from = from->nanoseconds;
        part.to = to;
        reading::Trace times(part);
        expected.clear();
        std::vector<Row> behind;
        for (const Row& row : rows) {
            if (row.nanoseconds >= from->nanoseconds && row.nanoseconds < to) {
                expected.push_back(row);
            }
            if (row.nanoseconds >= from->nanoseconds && behind.size() < count) {
                behind.push_back(row);
            }
        }
        REQUIRE(rest(times) == expected);
        trace.seek_time(from->nanoseconds);
        REQUIRE(rest(trace, behind.size()) == behind);
    }
}

// Directly at places where reading can continue, earlier records matter most.
TEST_CASE("seek: right after each section", "[seek]") {
    const unsigned seed = GENERATE(range(1u, 1 + sim::seeds(1)));
    CAPTURE(seed);
    const Bytes bytes = RandomTrace(seed, 30'000, false).bytes;
    MemorySource source(bytes);
    reading::Trace trace(options_of("-"), source);
    const std::vector<Row> rows = rest(trace);
    std::vector<std::size_t> ends{0};
    for (const auto& [at, header] : headers(bytes)) {
        if (header.type == abi::SectionType::records) {
            ends.push_back(ends.back() + header.size / sizeof(abi::Record));
        }
    }
    REQUIRE(ends.back() == rows.size());
    for (auto end = ends.rbegin(); end != ends.rend(); ++end) { // always backwards
        const std::size_t count = std::min<std::size_t>(30, rows.size() - *end);
        const auto from = rows.begin() + static_cast<std::ptrdiff_t>(*end);
        CAPTURE(*end);
        trace.seek_number(*end + 1);
        REQUIRE(rest(trace, count) ==
                std::vector<Row>(from, from + static_cast<std::ptrdiff_t>(count)));
    }
}

// A place with a full table of tasks takes more memory than another.
TEST_CASE("seek: checkpoints are bounded, and there is always one before the target", "[seek]") {
    const std::uint32_t tasks = GENERATE(0u, 1'000u, 30'000u);
    CAPTURE(tasks);
    reading::Checkpoint checkpoint;
    std::vector<trace::TaskEntry> entries;
    for (std::uint32_t i = 0; i < tasks; ++i) {
        entries.push_back({0, 8 * i, trace::TaskKey::task, i, i, "t"});
    }
    checkpoint.place.learnt.tasks.add(std::as_bytes(std::span(entries)));
    reading::Checkpoints all;
    all.add({});
    CHECK(!all.wants(1'000'000)); // nobody has gone back yet
    const auto none = [](const reading::Checkpoint&) { return true; };
    CHECK(all.in_front_of(none).in_front == 0);
    unsigned made = 0;
    for (std::uint64_t at = 0; at < 4'000'000; at += 100) {
        if (all.wants(at)) {
            ++made;
            checkpoint.in_front = at;
            all.add(checkpoint);
            REQUIRE(all.size() <= reading::Checkpoints::most);
            REQUIRE(all.bytes() <= reading::Checkpoints::most_bytes);
        }
    }
    CHECK(made > 20);
    CHECK(all.size() >= (tasks == 30'000 ? 3u : 32u));
    CHECK(all.in_front_of(none).in_front == 0);
    for (std::uint64_t at = 1; at < 4'000'000; at += 50'000) {
        const std::uint64_t there =
            all.in_front_of([at](const reading::Checkpoint& one) { return one.in_front >= at; })
                .in_front;
        REQUIRE(there < at);
    }
}

TEST_CASE("seek: going back a second time reads only what is near", "[seek]") {
    const Bytes bytes = RandomTrace(1, 60'000, false).bytes;
    MemorySource source(bytes);
    Watched watched(source);
    reading::Trace trace(options_of("-"), watched);
    rest(trace);
    trace.seek_number(60'000); // nothing is known before it
    rest(trace);
    for (const std::uint64_t number : {50'000u, 40'000u, 30'000u, 20'000u}) {
        const std::uint64_t before = watched.count();
        trace.seek_number(number);
        REQUIRE(next_row(trace)->number == number);
        CHECK(watched.count() - before < bytes.size() / 6);
    }
}

TEST_CASE("seek: to the beginning, after the end, and with a filter", "[seek]") {
    const Folder folder;
    reading::TraceOptions options = options_of(make(folder, "plain", 7));
    reading::Trace all(options);
    const std::vector<Row> rows = rest(all);
    all.seek_number(0);
    CHECK(rest(all) == rows);
    all.seek_number(rows.back().number + 1);
    CHECK(rest(all).empty());
    all.seek_time(0);
    CHECK(rest(all) == rows);
    options.filter = "dir==w";
    reading::Trace some(options);
    const std::vector<Row> writes = rest(some);
    REQUIRE(writes.size() > 1'000);
    some.seek_number(writes[500].number);
    CHECK(rest(some) == std::vector<Row>(writes.begin() + 500, writes.end()));
}

TEST_CASE("seek: a file that grows is at its end until a seek, which finds what was added",
          "[seek]") {
    const Folder folder;
    const std::string whole = make(folder, GENERATE("plain", "packed"), 1);
    const std::vector<Row> rows = rest(*std::make_unique<reading::Trace>(options_of(whole)));
    std::ifstream file(whole);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    const std::string path = folder / "grows";
    std::ofstream growing(path);
    std::size_t written = bytes.size() / 2; // within a section, and so are the others
    growing << bytes.substr(0, written) << std::flush;
    reading::Trace trace(options_of(path));
    std::vector<Row> found = rest(trace);
    REQUIRE((!found.empty() && found.size() < rows.size()));
    for (std::size_t more = bytes.size() / 9; written < bytes.size(); written += more) {
        growing << bytes.substr(written, more) << std::flush;
        CHECK(rest(trace).empty());
        trace.seek_number(found.size() + 1);
        const std::vector<Row> added = rest(trace);
        found.insert(found.end(), added.begin(), added.end());
        REQUIRE(std::ranges::equal(found, std::span(rows).first(found.size())));
    }
    CHECK(found == rows);
    trace.seek_number(1);
    CHECK(rest(trace) == rows);
}

TEST_CASE("seek: a pipe can only be read forwards, and says so", "[seek]") {
    const Bytes bytes = RandomTrace(3, 5'000).bytes;
    MemorySource source(bytes);
    Watched pipe(source, false);
    reading::Trace trace(options_of("-"), pipe);
    CHECK_THROWS_WITH(trace.seek_number(5), Catch::Contains("cannot seek"));
}
