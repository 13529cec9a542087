// A recording in several files, read as one trace: the result is the same as from one file.
#include "file/block.hpp"
#include "file/part_files.hpp"
#include "mmioscope/trace.hpp"
#include "reading/tally.hpp"
#include "reading/trace.hpp"
#include "reading_all.hpp"
#include "recorder_process.hpp"
#include "system/replaced_file.hpp"

using namespace mmioscope;
using namespace mmioscope::test;

namespace {

/// Calls `change` with each section of a trace, and corrects the checksums.
void rewrite(const std::string& path,
             const std::function<void(abi::SectionType, std::span<std::byte>)>& change) {
    std::vector<std::byte> bytes(std::filesystem::file_size(path));
    std::ifstream(path, std::ios::binary)
        .read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    for (auto [at, header] : headers(bytes)) {
        const std::span payload = std::span(bytes).subspan(at + sizeof header, header.size);
        change(header.type, payload);
        header.crc = crc(payload);
        header.header_crc = crc_before(header, offsetof(abi::SectionHeader, header_crc));
        std::memcpy(bytes.data() + at, &header, sizeof header);
    }
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
}

/// Damages each section of `type` by changing a byte.
void damage(const std::string& path, abi::SectionType type) {
    std::vector<std::byte> bytes(std::filesystem::file_size(path));
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    for (const auto& [at, header] : headers(bytes)) {
        if (header.type == type && header.size > 0) {
            file.seekp(static_cast<std::streamoff>(at + sizeof header));
            file.put(static_cast<char>(~static_cast<unsigned char>(bytes[at + sizeof header])));
        }
    }
}

constexpr std::uint32_t count = 40'000;

/// The result of reading a trace.
struct Read {
    explicit Read(reading::TraceOptions options) {
        options.report = [this](const std::string& line) { problems.push_back(line); };
        reading::Trace trace(options);
        reading::Tally tally(reading::selects(options));
        while (const Event* event = trace.next()) {
            records.push_back(event->record);
            times.push_back(event->nanoseconds);
            tally.add(*event);
        }
        const trace::TraceReader& reader = trace.reader();
        parts = reader.parts();
        losses = {reader.losses().begin(), reader.losses().end()};
        statistics = reader.statistics().size();
        text = reader.text();
        end = reader.end();
        verdict = tally.verdict(reader);
        status = reading::status_of(reader);
    }

    std::vector<std::string> problems;
    Records records;
    std::vector<std::uint64_t> times;
    unsigned parts = 0;
    std::vector<abi::Loss> losses;
    std::size_t statistics = 0;
    std::map<std::string, std::string> text;
    std::optional<abi::End> end;
    std::string verdict;
    Status status = Status::fine;
};

reading::TraceOptions of(const std::string& path) {
    reading::TraceOptions options;
    options.path = path;
    return options;
}

/// Records a boot with losses in its first and last file, in three files and in one.
void record_both(const Folder& folder, std::uint32_t boot) {
    std::ofstream(folder / "s") << Stream(boot)
                                       .records(0, 10'000)
                                       .records(10'100, count)
                                       .records(count + 7, count + 1000)
                                       .end(count + 1000)
                                       .text();
    record::Options options = from(folder / "s");
    options.rotate = record::min_rotate;
    REQUIRE(Recorder(folder, options).status() == 1);
    options.rotate = 0;
    options.output = folder / "whole.mmio";
    REQUIRE(Recorder(folder, options).status() == 1);
    REQUIRE(std::filesystem::exists(folder / "t.3.mmio"));
    REQUIRE(!std::filesystem::exists(folder / "t.4.mmio"));
}

/// Recorded only once, because that takes longest.
const Folder& recorded(std::uint32_t boot) {
    static std::map<std::uint32_t, Folder> folders;
    const bool is_new = !folders.contains(boot);
    const Folder& folder = folders[boot];
    if (is_new) {
        record_both(folder, boot);
    }
    return folder;
}

/// The same boot in three files t.mmio, t.2.mmio, t.3.mmio, and in one, whole.mmio.
struct TwoRecordings {
    explicit TwoRecordings(std::uint32_t boot = 7) {
        const Folder& made = recorded(boot);
        for (const char* name : {"t.mmio", "t.2.mmio", "t.3.mmio", "whole.mmio"}) {
            std::filesystem::copy_file(made / name, folder / name);
        }
    }

    std::string operator/(const char* name) const { return folder / name; }
    void move(const char* from, const char* to) const {
        std::filesystem::rename(folder / from, folder / to);
    }

    Folder folder;
};

void check_same(const Read& parts, const Read& whole,
                const std::vector<std::string>& problems = {}) {
    CHECK(parts.problems == problems);
    CHECK(whole.problems == problems);
    REQUIRE(parts.records.size() == whole.records.size());
    const auto same = [](const abi::Record& left, const abi::Record& right) {
        return std::memcmp(&left, &right, sizeof left) == 0;
    };
    CHECK(std::equal(parts.records.begin(), parts.records.end(), whole.records.begin(), same));
    CHECK(parts.times == whole.times);
    CHECK(parts.statistics == whole.statistics);
    REQUIRE((parts.end && whole.end));
    CHECK(parts.end->records == whole.end->records);
    CHECK(parts.end->lost == whole.end->lost);
    CHECK(parts.end->ending == whole.end->ending);
    CHECK(parts.verdict == whole.verdict);
}

} // namespace

TEST_CASE("parts: a recording in several files reads as in one") {
    const TwoRecordings made;
    const Read whole(of(made / "whole.mmio"));
    REQUIRE(whole.records.size() == count + 1000 - 107);
    REQUIRE(whole.losses.size() == 2);
    const Read parts(of(made / "t.mmio"));
    CHECK(parts.parts == 3);
    check_same(parts, whole);
    REQUIRE(parts.losses.size() == 2);
    CHECK(std::memcmp(parts.losses.data(), whole.losses.data(), sizeof(abi::Loss) * 2) == 0);
    CHECK(parts.text.at("part") == "1");
}

TEST_CASE("parts: a range of time may begin in one file and end in another") {
    const TwoRecordings made;
    for (const auto& [from, to] : {std::pair{5'000'000, 390'000'000},
                                   {200'000'000, 210'000'000},
                                   {390'000'000, 900'000'000},
                                   {100'500'000, 100'600'000}, // where records were lost
                                   {800'000'000, 900'000'000}}) {
        CAPTURE(from);
        reading::TraceOptions options = of(made / "whole.mmio");
        options.from = static_cast<std::uint64_t>(from);
        options.to = static_cast<std::uint64_t>(to);
        const Read whole(options);
        const bool is_behind = from == 800'000'000;
        CHECK(whole.records.empty() == (is_behind || from == 100'500'000));
        options.path = made / "t.mmio";
        const Read parts(options);
        CHECK(parts.parts == 3);
        std::vector<std::string> problems;
        if (is_behind) {
            problems.emplace_back("nothing was recorded at or after the time of --from");
        }
        check_same(parts, whole, problems);
    }
}

TEST_CASE("parts: one file is read alone if wanted, or from a later one to the last") {
    const TwoRecordings made;
    reading::TraceOptions options = of(made / "t.2.mmio");
    const Read rest(options);
    CHECK(rest.parts == 2);
    CHECK(rest.records.back().cpu_sequence == count + 999);
    CHECK(rest.times.front() == 0);
    options.one_file = true;
    const Read one(options);
    CHECK(one.parts == 1);
    CHECK(one.records.size() < rest.records.size());
    CHECK(one.end->ending == abi::Ending::continued);
    CHECK(one.verdict == fmt::format("policy: drop\ncomplete: {} events of one file, 0 lost\n",
                                     one.records.size()));
    CHECK(one.status == Status::fine);
}

TEST_CASE("parts: a missing or changed file makes the trace incomplete") {
    const TwoRecordings made;
    const TwoRecordings other(8);
    const std::size_t first = read_trace(made / "t.mmio").records.size();
    std::string why = "there is no file ";
    SECTION("it is missing") {
        made.move("t.2.mmio", "elsewhere");
    }
    SECTION("it is another boot's") {
        std::filesystem::copy_file(other / "t.2.mmio", made / "t.2.mmio",
                                   std::filesystem::copy_options::overwrite_existing);
        why = "t.2.mmio: the file belongs to another recording";
    }
    SECTION("it is a later one") {
        made.move("t.3.mmio", "t.2.mmio");
        why = "t.2.mmio: the file belongs to another recording";
    }
    SECTION("it is of a machine with another clock") {
        rewrite(made / "t.2.mmio", [](abi::SectionType type, std::span<std::byte> payload) {
            if (type == abi::SectionType::info) {
                payload[offsetof(abi::Info, counter_frequency)] ^= std::byte{1};
            }
        });
        why = "t.2.mmio: the file belongs to another recording";
    }
    SECTION("it does not say which one it is") {
        rewrite(made / "t.2.mmio", [](abi::SectionType type, std::span<std::byte> payload) {
            if (type == abi::SectionType::text && !payload.empty()) {
                payload[0] = std::byte{'#'};
                std::ranges::replace(payload, std::byte{'='}, std::byte{'#'});
            }
        });
        why = "t.2.mmio: the file has no number in a recording";
    }
    SECTION("it is a FIFO, which is not waited for") {
        std::filesystem::remove(made / "t.2.mmio");
        REQUIRE(::mkfifo((made / "t.2.mmio").c_str(), 0600) == 0);
    }
    SECTION("it is not a trace") {
        std::ofstream(made / "t.2.mmio") << "something else";
        why = "t.2.mmio: this is not an mmioscope trace";
    }
    const Read read(of(made / "t.mmio"));
    CHECK(read.parts == 1);
    CHECK(read.records.size() == first);
    CHECK_THAT(read.verdict, Catch::Contains("incomplete: ") && Catch::Contains(why));
    CHECK(read.status == Status::failed);
}

TEST_CASE("parts: damage is reported with the name of its file") {
    const TwoRecordings made;
    {
        const std::string path = made / "t.2.mmio";
        std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(static_cast<std::streamoff>(std::filesystem::file_size(path) / 2));
        file << "damage";
    }
    const Read read(of(made / "t.mmio"));
    CHECK(read.parts == 3);
    REQUIRE(read.problems.size() == 1);
    CHECK_THAT(read.problems[0], Catch::Contains("t.2.mmio: section at byte"));
    CHECK(read.status == Status::failed);
    CHECK(read.records.back().cpu_sequence == count + 999);
}

TEST_CASE("parts: a file with a damaged end loses only its end, not the files after it") {
    const TwoRecordings made;
    damage(made / "t.mmio", abi::SectionType::end);
    const Read read(of(made / "t.mmio"));
    CHECK(read.parts == 3);
    CHECK(read.records.size() == count + 1000 - 107);
    REQUIRE(read.problems.size() == 2);
    CHECK_THAT(read.problems[1], Catch::Contains("t.2.mmio has no readable end"));
    CHECK_THAT(read.verdict, Catch::Contains("the trace is damaged"));
    CHECK(read.status == Status::failed);
}

TEST_CASE("parts: a first file without records gives the rest its head") {
    const TwoRecordings made;
    damage(made / "t.mmio", trace::packed_section);
    reading::TraceOptions options = of(made / "t.mmio");
    const Read read(options);
    REQUIRE(!read.records.empty());
    CHECK(read.times.front() == 0);
    const std::uint64_t second = read.records[1].time;
    options.from = reading::Moment(second * 1000, true); // the counter has 1 MHz
    CHECK(Read(options).records.size() == read.records.size() - 1);
}

TEST_CASE(
    "parts: texts after the records of a later file are read, those before are the first file's") {
    const TwoRecordings made;
    damage(made / "t.3.mmio", trace::packed_section);
    const Read whole(of(made / "whole.mmio"));
    const Read parts(of(made / "t.mmio"));
    REQUIRE(whole.text.size() > 5);
    for (const auto& [key, value] : whole.text) {
        CHECK(parts.text.contains(key));
    }
    CHECK(parts.text.at("part") == "1");
}

TEST_CASE("parts: files may be compressed, and opened by a link to the first one") {
    const TwoRecordings made;
    const Read whole(of(made / "whole.mmio"));
    REQUIRE(std::system(fmt::format("zstd -q --rm '{}'", made / "t.2.mmio").c_str()) == 0);
    check_same(Read(of(made / "t.mmio")), whole);
    REQUIRE(std::system(fmt::format("zstd -q --rm '{}'", made / "t.mmio").c_str()) == 0);
    check_same(Read(of(made / "t.mmio.zst")), whole);
    const Folder elsewhere;
    std::filesystem::create_symlink(made / "t.mmio.zst", elsewhere / "link");
    check_same(Read(of(elsewhere / "link")), whole);
}

TEST_CASE("parts: files that would be read are inputs, other files with such names are not") {
    const TwoRecordings made;
    using Paths = std::vector<std::string>;
    CHECK(trace::part_paths(made / "t.mmio") == Paths{made / "t.2.mmio", made / "t.3.mmio"});
    CHECK(trace::part_paths(made / "t.3.mmio").empty());
    std::ofstream(made / "whole.2.mmio") << "notes";
    CHECK(trace::part_paths(made / "whole.mmio").empty());
    CHECK(trace::part_paths(made / "s").empty()); // not a trace
    CHECK(trace::part_paths("-").empty());
    std::filesystem::remove(made / "whole.2.mmio");
    std::filesystem::create_symlink(made / "whole.2.mmio", made / "whole.2.mmio");
    CHECK(trace::part_paths(made / "whole.mmio").empty());
    CHECK(Read(of(made / "whole.mmio")).parts == 1);
    const std::string longest = made / (std::string(250, 'n') + ".mm").c_str();
    std::filesystem::copy_file(made / "whole.mmio", longest);
    CHECK(Read(of(longest)).parts == 1);
}

TEST_CASE("parts: the library reports a missing file") {
    const TwoRecordings made;
    const auto all_of = [](TraceFile trace) {
        while (trace.next() != nullptr) {
        }
        return trace;
    };
    const TraceFile whole = all_of(TraceFile(made / "t.mmio"));
    CHECK(whole.sound());
    CHECK(whole.files() == 3);
    CHECK(whole.missing_file().empty());
    made.move("t.2.mmio", "elsewhere");
    const TraceFile one = all_of(TraceFile(made / "t.mmio"));
    CHECK(!one.sound());
    CHECK(one.files() == 1);
    CHECK_THAT(one.missing_file(), Catch::Contains("there is no file "));
    TraceFileOptions options;
    options.one_file = true;
    CHECK(all_of(TraceFile(made / "t.mmio", options)).sound());
}

// `wait` makes the next file, so there is no race: it did not exist before.
TEST_CASE("parts: a follower waits for the next file, whatever already has its name") {
    const TwoRecordings made;
    const Read whole(of(made / "whole.mmio"));
    made.move("t.2.mmio", "two");
    made.move("t.3.mmio", "three");
    std::ofstream(made / "t.3.mmio") << "of an older recording";
    reading::TraceOptions options = of(made / "t.mmio");
    unsigned waits = 0;
    options.wait = [&] {
        ++waits;
        if (waits == 3) {
            made.move("two", "t.2.mmio");
        }
        if (waits == 6) {
            made.move("three", "t.3.mmio");
        }
        return true;
    };
    const Read parts(options);
    CHECK(waits == 6);
    CHECK(parts.parts == 3);
    check_same(parts, whole);
}

TEST_CASE("parts: a follower does not wait for ever, and stops waiting when told") {
    const TwoRecordings made;
    made.move("t.2.mmio", "two");
    reading::TraceOptions options = of(made / "t.mmio");
    unsigned waits = 0;
    bool going = true;
    options.wait = [&] {
        ++waits;
        return going;
    };
    const auto began = std::chrono::steady_clock::now();
    CHECK_THAT(Read(options).verdict, Catch::Contains("there is no file " + (made / "t.2.mmio")));
    CHECK(std::chrono::steady_clock::now() - began >= std::chrono::milliseconds(1900));
    CHECK(waits == 20);
    going = false;
    CHECK_THAT(Read(options).verdict, !Catch::Contains("t.2.mmio"));
    CHECK(waits == 21);
}

TEST_CASE("parts: the names of files that follow") {
    using Names = std::vector<std::string>;
    CHECK(next_part_paths("a/b.mmio", 1) == Names{"a/b.2.mmio", "a/b.2.mmio.zst"});
    CHECK(next_part_paths("a.d/b.2.mmio", 2) == Names{"a.d/b.3.mmio", "a.d/b.3.mmio.zst"});
    CHECK(next_part_paths("b.9.mmio", 9) == Names{"b.10.mmio", "b.10.mmio.zst"});
    CHECK(next_part_paths("boot", 1) == Names{"boot.2", "boot.2.zst"});
    CHECK(next_part_paths("boot.12", 12) == Names{"boot.13", "boot.13.zst"});
    CHECK(next_part_paths("b.2.mmio.zst", 2) == Names{"b.3.mmio.zst", "b.3.mmio"});
    // Compressed later, or named so by its recorder.
    CHECK(next_part_paths("b.2.mmio.gz", 2) == Names{"b.3.mmio.gz", "b.3.mmio"});
    CHECK(next_part_paths("b.mmio.zst", 1) ==
          Names{"b.2.mmio.zst", "b.2.mmio", "b.mmio.2.zst", "b.mmio.2.zst.zst"});
    CHECK(next_part_paths("renamed.mmio", 2).empty());
    CHECK(next_part_paths("b.2.mmio", 3).empty());
    for (const std::string first :
         {"boot.2", "boot.2.mmio", "a.b/c", ".mmio", "x.y.z", "b.mmio.zst"}) {
        for (const unsigned number : {1u, 2u, 3u, 10u}) {
            CHECK_THAT(next_part_paths(part_path(first, number), number),
                       Catch::VectorContains(part_path(first, number + 1)));
        }
    }
}
