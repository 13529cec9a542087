// A file with packed records: everything reads as in the plain one, which stays on any error.
#include "../sim/random.hpp"
#include "file/block.hpp"
#include "file/packing.hpp"
#include "file/trace_check.hpp"
#include "file/used_code.hpp"
#include "random_trace.hpp"
#include "reading/trace.hpp"
#include "reading_all.hpp"
#include "system/crc.hpp"
#include "system/error.hpp"
#include "wires.hpp"

#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <fstream>
#include <map>

using namespace mmioscope;
using namespace mmioscope::test;

namespace {

/// `sections` of `each` records of two CPUs, with callers in every third section, and tasks,
/// modules and text between them.
Bytes mixed_trace(std::uint32_t sections, std::uint32_t each,
                  abi::Ending ending = abi::Ending::machine_off, std::uint32_t from = 0) {
    return trace_bytes([=](trace::FileWriter& writer) {
        write_info(writer);
        write_regions(writer, {region(0x1c09'0000, 0x1000, "/bus/serial@90000")});
        for (std::uint32_t section = 0; section < sections; ++section) {
            const std::uint32_t first = from + section * each / 2;
            const std::uint64_t time = 1000 + 20 * std::uint64_t{first};
            if (section % 5 == 1) {
                const trace::TaskEntry task{time,    0xc161'0680, trace::TaskKey::task,
                                            section, section,     "a task"};
                writer.values(trace::tasks_section, std::span(&task, 1));
            }
            if (section % 7 == 2) {
                writer.text(fmt::format("section={}\n", section));
            }
            for (std::uint32_t i = 0; i < each; ++i) {
                const std::uint32_t number = first + i / 2;
                abi::Record record =
                    access(i % 2, number, 1000 + 20 * std::uint64_t{number} + i % 2);
                record.task = 0xc161'0680;
                record.device = static_cast<std::uint16_t>(i % 2);
                const trace::Caller caller = 0xc000'0000 + section;
                const bool elsewhere = section % 3 == 0 && i % 2 == 0 && i / 2 - 1 < each / 4;
                writer.append(std::span(&record, 1), std::span(&caller, elsewhere ? 1 : 0));
            }
            writer.flush();
        }
        const abi::Loss loss{1, 7, 3, 1500};
        writer.values(abi::SectionType::losses, std::span(&loss, 1));
        writer.finish(3, ending);
    });
}

Bytes bytes_at(const std::string& path) {
    return contents(open_input(path).get());
}

void write(const std::string& path, const Bytes& bytes) {
    append(create_output(path).get(), bytes, "a test's file");
}

bool goes_on(std::uint64_t done, std::uint64_t size) {
    REQUIRE(done <= size);
    return true;
}

void pack(const std::string& path, const trace::GoesOn& goes = goes_on) {
    trace::pack_file(path, open_input(path).get(), goes);
}

bool alone(const Folder& folder) {
    return std::distance(std::filesystem::directory_iterator(folder / ""), {}) == 1;
}

/// Packs `plain`.
Bytes packed(const Bytes& plain) {
    const Folder folder;
    write(folder / "t.mmio", plain);
    pack(folder / "t.mmio");
    CHECK(alone(folder));
    return bytes_at(folder / "t.mmio");
}

/// Everything about each record of a trace.
struct Contents {
    explicit Contents(trace::TraceReader& reader) {
        const std::uint64_t first = 1;
        for (auto block = reader.next(); !block.empty(); block = reader.next()) {
            for (const abi::Record& record : block) {
                callers.push_back(reader.caller_of(first + records.size()));
                records.push_back(record);
                const std::optional<Task> task = reader.tasks().of(record);
                tasks.push_back(task ? task->pid : 0);
            }
        }
    }
    bool operator==(const Contents& other) const {
        return records.size() == other.records.size() &&
               std::memcmp(records.data(), other.records.data(), records.size() * 64) == 0 &&
               callers == other.callers && tasks == other.tasks;
    }
    std::vector<abi::Record> records;
    std::vector<trace::Caller> callers;
    std::vector<std::uint32_t> tasks;
};

std::size_t count_of(const Bytes& bytes, abi::SectionType type) {
    const auto all = headers(bytes);
    return static_cast<std::size_t>(
        std::ranges::count_if(all, [type](const auto& one) { return one.second.type == type; }));
}

/// Checks that the file stays unchanged. Returns the error.
std::string kept(const Bytes& bytes, const trace::GoesOn& goes = goes_on) {
    const Folder folder;
    write(folder / "t.mmio", bytes);
    std::string problem;
    try {
        pack(folder / "t.mmio", goes);
    } catch (const Error& error) {
        problem = error.what();
    }
    CHECK(bytes_at(folder / "t.mmio") == bytes);
    CHECK(alone(folder));
    return problem;
}

} // namespace

TEST_CASE("a packed file has the same content as the plain one") {
    // Blocks of many sections, and many blocks for one.
    for (const auto& [sections, each] : {std::pair(400u, 30u), std::pair(3u, 12'000u)}) {
        const Bytes plain = mixed_trace(sections, each);
        const Bytes small = packed(plain);
        CHECK(small.size() < plain.size() / 5);
        CHECK(count_of(small, abi::SectionType::records) == 0);
        CHECK(count_of(small, trace::callers_section) == 0);
        CHECK(count_of(small, trace::packed_section) >= sections * each / 4096);
        CHECK(count_of(small, trace::tasks_section) <= count_of(small, trace::packed_section) + 1);
        MemorySource from(plain), to(small);
        trace::TraceReader before(from, [](const std::string& text) { FAIL(text); });
        trace::TraceReader after(to, [](const std::string& text) { FAIL(text); });
        const Contents contents(before);
        REQUIRE(contents.records.size() == sections * each);
        CHECK(std::ranges::count(contents.callers, trace::lr_holds) < std::ssize(contents.callers));
        CHECK(std::ranges::any_of(contents.tasks, [](std::uint32_t pid) { return pid != 0; }));
        CHECK(Contents(after) == contents);
        CHECK(after.sound());
        CHECK(after.text() == before.text());
        CHECK(after.losses().size() == 1);
        CHECK(after.end()->records == before.end()->records);
        CHECK(after.end()->lost == 3);
        MemorySource checked(small);
        const trace::CheckResult result = trace::check_trace(checked);
        CHECK(result.records == sections * each);
        CHECK(result.lossy); // as it says itself, and nothing else is wrong
        CHECK(packed(small) == small);
    }
}

namespace {

/// The events that pass a filter, by their numbers, and what was reported.
struct Left {
    Left(const char* filter, const Bytes& bytes) {
        MemorySource source(bytes);
        reading::TraceOptions options;
        options.filter = filter;
        options.report = [this](const std::string& text) { reports += text; };
        reading::Trace trace(options, source);
        while (const Event* event = trace.next()) {
            events[event->number] =
                fmt::format("{} {} {} {} {}", event->nanoseconds, event->record.value,
                            event->record.lr, event->record.commit, names_of(*event));
        }
        reports += trace.reader().sound() ? "sound" : "not sound";
    }
    std::vector<std::uint64_t> numbers() const {
        std::vector<std::uint64_t> all;
        std::ranges::transform(events, std::back_inserter(all),
                               [](const auto& event) { return event.first; });
        return all;
    }

    std::map<std::uint64_t, std::string> events;
    std::string reports;
};

} // namespace

namespace {

/// What a trace says of its code, and how many functions its file names.
struct Code {
    explicit Code(const Bytes& bytes) {
        MemorySource source(bytes);
        reading::TraceOptions options;
        options.report = [](const std::string& text) { FAIL(text); };
        reading::Trace trace(options, source);
        while (const Event* event = trace.next()) {
            names.push_back(text(event->code()));
            names.push_back(text(event->caller()));
        }
        functions =
            trace.reader().symbols() ? symbols::unpack(*trace.reader().symbols()).size() : 0;
    }
    std::vector<std::string> names;
    std::size_t functions = 0;
};

} // namespace

TEST_CASE("a packed file has only the names of code that its records need") {
    const unsigned seed = GENERATE(range(1u, 1 + sim::seeds(3)));
    CAPTURE(seed);
    // 2,000 records at random places in 65,536 functions.
    const Bytes plain = RandomTrace(seed, 2'000).bytes;
    const Code before(plain), after(packed(plain));
    REQUIRE(after.names.size() == before.names.size());
    // Names of modules may be known earlier in a packed file.
    for (std::size_t i = 0; i < before.names.size(); ++i) {
        if (before.names[i].starts_with("f_") || after.names[i].starts_with("f_")) {
            REQUIRE(after.names[i] == before.names[i]);
        }
    }
    CHECK(before.functions > 65'000);
    CHECK(after.functions < 5'000);
    CHECK(after.functions > 1'000);
}

TEST_CASE("a packed file keeps all names where they may be needed") {
    const auto made = [](abi::Ending ending, std::uint32_t records) {
        return trace_bytes([=](trace::FileWriter& writer) {
            write_info(writer);
            trace::write_about(writer, {"", symbols::pack(functions()), {}});
            for (std::uint32_t i = 0; i < records; ++i) {
                abi::Record record = access(0, i, i);
                record.pc = kernel + 8 * i;
                record.lr = kernel + 8 * i + 4;
                append(writer, record);
            }
            writer.finish(0, ending);
        });
    };
    const auto functions_of = [](const Bytes& bytes) { return Code(bytes).functions; };
    const std::size_t all = functions().size();
    CHECK(functions_of(packed(made(abi::Ending::machine_off, 1))) == 1);
    CHECK(functions_of(packed(made(abi::Ending::continued, 1))) == all);
    // With more addresses than are counted.
    const std::uint32_t many = trace::UsedCode::most_addresses;
    CHECK(functions_of(packed(made(abi::Ending::machine_off, many / 4))) < all / 4);
    CHECK(functions_of(packed(made(abi::Ending::machine_off, many))) == all);
}

TEST_CASE("damaged names stay as they are in a packed file, to be reported by its readers") {
    Bytes names = symbols::pack(functions());
    names.resize(names.size() - 1);
    const Bytes plain = trace_bytes([&](trace::FileWriter& writer) {
        write_info(writer);
        trace::write_about(writer, {std::string(2'000, '#'), names, {}});
        append(writer, access(0, 0, 0));
        writer.finish(0, abi::Ending::machine_off);
    });
    const Bytes small = packed(plain);
    MemorySource source(small);
    trace::TraceReader reader(source, [](const std::string& text) { FAIL(text); });
    while (!reader.next().empty()) {
    }
    CHECK(*reader.symbols() == names);
}

TEST_CASE("a filter selects the same from a packed file as from the plain one") {
    std::size_t some = 0, none = 0;
    const Bytes mixed = mixed_trace(40, 1000);
    const Bytes random = RandomTrace(GENERATE(range(0u, sim::seeds(1))), 12'000).bytes;
    for (const Bytes* const plain : {&mixed, &random}) {
        const Bytes small = packed(*plain);
        const Left all("type>=0", small);
        for (const char* const filter : {"value==0x123456",
                                         "value>=0xfffffff0",
                                         "seq==7777",
                                         "seq>11900",
                                         "order==1",
                                         "order>1000000",
                                         "time>1s",
                                         "time<100ns",
                                         "duration>1s",
                                         "lr==0x1234",
                                         "lr!=0",
                                         "sp==4",
                                         "pc==0xc0008004",
                                         "type==task",
                                         "type==marker",
                                         "cpu==1",
                                         "size==8",
                                         "dev==serial@90000",
                                         "dev==nothing",
                                         "!(seq<11000)",
                                         "seq==9000 && func!=nothing",
                                         "seq==9000 || task==nobody",
                                         "w && seq==5000",
                                         "r && seq==5001",
                                         "offset==0xffc",
                                         "mode==usr",
                                         "emulated",
                                         "unknown && seq>11000"}) {
            INFO(filter);
            const Left left(filter, small);
            const Left of_plain(filter, *plain);
            CHECK(left.numbers() == of_plain.numbers());
            CHECK(left.reports == of_plain.reports);
            for (const auto& [number, event] : left.events) { // with names
                REQUIRE(event == all.events.at(number));
            }
            ++(left.events.empty() ? none : some);
        }
    }
    CHECK(some > 10); // both occur
    CHECK(none > 10);
}

TEST_CASE("names depending on other records are right, whatever a filter skips in a packed file") {
    // Of three blocks, the first is read with the head. The second names a task, or sets LCR.DLAB,
    // on which later registers depend; or it does neither, and is left out.
    enum class Tells { nothing, task, dlab };
    for (const Tells tells : {Tells::nothing, Tells::task, Tells::dlab}) {
        const Bytes plain = trace_bytes([tells](trace::FileWriter& writer) {
            write_info(writer);
            write_regions(writer, board_regions());
            if (tells == Tells::dlab) {
                writer.section(abi::SectionType::device_tree, board_tree());
            }
            for (std::uint32_t i = 0; i < 12'000; ++i) {
                abi::Record record = at(3, uart, false, i);
                if (tells == Tells::dlab && i == 6'000) {
                    record = at(3, lcr, true, 0x80);
                }
                if (tells == Tells::task && i == 5'000) {
                    record.type = abi::RecordType::task;
                    record.device = abi::no_device;
                    abi::TaskName name{7, 7, {}};
                    std::string_view("said").copy(name.comm, sizeof name.comm);
                    abi::set_task_name(record, name);
                }
                record.time = i;
                record.cpu_sequence = i;
                append(writer, record);
            }
            writer.finish(0, abi::Ending::machine_off);
        });
        const Bytes small = packed(plain);
        const Left all("type>=0", small);
        for (const char* const filter : {"seq==11000", "value==11001", "seq==3000 || seq==11000"}) {
            const Left left(filter, small);
            CHECK(left.reports == "sound");
            REQUIRE(!left.events.empty());
            for (const auto& [number, event] : left.events) {
                CHECK(event == all.events.at(number));
            }
            const std::string& last = left.events.rbegin()->second;
            CHECK((tells == Tells::task) == last.ends_with("said:7 <> "));
            CHECK((tells == Tells::dlab) == (last.find(" DLL ") != std::string::npos));
        }
    }
}

TEST_CASE("packed records that a filter refuses by their numbers are not unpacked further") {
    Bytes bytes = packed(mixed_trace(40, 1000));
    // Changes the last column, but not its checksum, of each block except the first, which is read
    // with the head.
    unsigned blocks = 0;
    for (const auto& [at, header] : headers(bytes)) {
        if (header.type == trace::packed_section && blocks++ > 0) {
            const auto payload = std::span(bytes).subspan(at + sizeof header, header.size);
            payload.back() ^= std::byte{1};
            abi::SectionHeader fixed = header;
            fixed.crc = crc(payload);
            fixed.header_crc = crc_before(fixed, offsetof(abi::SectionHeader, header_crc));
            std::memcpy(bytes.data() + at, &fixed, sizeof fixed);
        }
    }
    CHECK(Left("value==0x123456", bytes).reports == "sound");
    CHECK(Left("seq==19999", bytes).reports.starts_with("packed records")); // one event is wanted
}

TEST_CASE("only the blocks of the wanted time are read from a packed file with an index") {
    const Bytes whole = packed(long_trace(200, 400)); // 20 blocks
    for (const std::uint64_t from : {0u, 1000u, 300'000u, 800'990u, 900'000u}) {
        const trace::TimeSpan times{from, from + 2'000};
        MemorySource all(whole), some(whole);
        Watched watched(some);
        const ReadAll part(watched, times);
        REQUIRE(part.times_in(times) == ReadAll(all).times_in(times));
        CHECK(part.problems.empty());
        CHECK(part.losses == 1);
        CHECK(watched.count() < whole.size() / 2);
    }
}

TEST_CASE("a packed file that was cut has all blocks before the cut") {
    const Bytes whole = packed(long_trace(10, 1000));
    std::size_t most = 0;
    for (std::size_t size = sizeof(abi::FileHeader); size < whole.size(); size += 41) {
        const Bytes part(whole.begin(), whole.begin() + std::ptrdiff_t(size));
        MemorySource source(part);
        const ReadAll read(source);
        REQUIRE_FALSE(read.sound);
        REQUIRE(read.problems.empty());
        const std::vector<std::size_t> edges{0, 4096, 5000, 9096, 10'000}; // the text is at 5000
        REQUIRE(std::ranges::count(edges, read.records.size()) == 1);
        REQUIRE(read.records.size() >= most);
        most = read.records.size();
        MemorySource checked(part);
        REQUIRE(trace::check_trace(checked).cut);
    }
    CHECK(most == 10'000);
}

TEST_CASE("a damaged block costs only its own records") {
    const Bytes whole = packed(long_trace(10, 1000));
    const auto sections = headers(whole);
    for (auto [at, header] : sections) {
        if (header.type != trace::packed_section) {
            continue;
        }
        Bytes bytes = whole;
        bytes[at + sizeof header + header.size / 2] ^= std::byte{4};
        MemorySource source(bytes);
        const ReadAll read(source);
        CHECK_FALSE(read.sound);
        REQUIRE(read.problems.size() == 1);
        CHECK(read.problems[0].ends_with("is damaged: skipped"));
        CHECK(read.records.size() < 10'000);
        CHECK(read.records.size() >= 10'000 - trace::most_records);
        // A block that says what cannot be, with the right checksum.
        bytes = whole;
        const std::uint32_t count = trace::most_records + 1;
        std::memcpy(bytes.data() + at + sizeof header, &count, sizeof count);
        header.crc = crc(std::span(bytes).subspan(at + sizeof header, header.size));
        header.header_crc = crc_before(header, offsetof(abi::SectionHeader, header_crc));
        std::memcpy(bytes.data() + at, &header, sizeof header);
        MemorySource sealed(bytes), checked(bytes);
        const ReadAll again(sealed);
        REQUIRE(again.problems.size() == 1);
        CHECK(again.problems[0].starts_with("packed records before byte "));
        CHECK(again.problems[0].ends_with(": its header makes no sense: skipped"));
        CHECK(again.records.size() == read.records.size());
        CHECK_FALSE(trace::check_trace(checked).lossy);
    }
}

TEST_CASE("check reports a block whose times differ from its header") {
    Bytes bytes = packed(mixed_trace(10, 1000));
    for (auto [at, header] : headers(bytes)) {
        if (header.type != trace::packed_section) {
            continue;
        }
        const auto block = std::span(bytes).subspan(at + sizeof header, header.size);
        trace::BlockHeader front{};
        std::memcpy(&front, block.data(), sizeof front);
        ++front.latest;
        std::memcpy(block.data(), &front, sizeof front);
        header.crc = mmioscope::crc(block);
        header.header_crc = crc_before(header, offsetof(abi::SectionHeader, header_crc));
        std::memcpy(bytes.data() + at, &header, sizeof header);
        MemorySource source(bytes);
        const trace::CheckResult result = trace::check_trace(source);
        CHECK(std::ranges::count(result.problems,
                                 fmt::format("the packed records at byte {} have other times than "
                                             "their header says",
                                             at)) == 1);
        return;
    }
    FAIL("no block");
}

TEST_CASE("several packed files are one trace") {
    const Bytes first = mixed_trace(40, 300, abi::Ending::continued);
    const Bytes second = mixed_trace(40, 300, abi::Ending::machine_off, 6000);
    const auto of_both = [](const Bytes& one, const Bytes& other) {
        MemorySource source(one);
        trace::TraceReader reader(source, [](const std::string& text) { FAIL(text); });
        reader.go_on_with([&other](const trace::TraceReader&) {
            return trace::NextPart{"next", std::make_unique<MemorySource>(other), ""};
        });
        Contents result(reader);
        CHECK(reader.sound());
        CHECK(reader.parts() == 2);
        return result;
    };
    const Contents plain = of_both(first, second);
    REQUIRE(plain.records.size() == 24'000);
    CHECK(of_both(packed(first), packed(second)) == plain);
    CHECK(of_both(packed(first), second) == plain);
}

TEST_CASE("a reader with the file open while it is packed still sees the plain file") {
    const Folder folder;
    const Bytes plain = mixed_trace(100, 100);
    write(folder / "t.mmio", plain);
    const FileDescriptor open = open_input(folder / "t.mmio");
    REQUIRE(::chmod((folder / "t.mmio").c_str(), 0640) == 0);
    std::filesystem::create_symlink(folder / "t.mmio", folder / "link.mmio");
    pack(folder / "link.mmio");
    CHECK(contents(open.get()) == plain);
    CHECK(std::filesystem::is_symlink(folder / "link.mmio"));
    CHECK(std::filesystem::file_size(folder / "t.mmio") < plain.size() / 5);
    CHECK(
        (std::filesystem::status(folder / "t.mmio").permissions() == std::filesystem::perms(0640)));
}

TEST_CASE("a file that cannot be packed stays as it was recorded") {
    const Bytes plain = mixed_trace(100, 100);
    unsigned asked = 0;
    CHECK(kept(plain, [&asked](std::uint64_t, std::uint64_t) { return ++asked < 50; }) ==
          "interrupted");
    CHECK(kept(Bytes(plain.begin(), plain.begin() + 3000)) == "it is cut off");
    Bytes endless = plain;
    endless.resize(headers(plain).back().first);
    CHECK(kept(endless) == "it has no end");
    Bytes damaged = plain;
    damaged[plain.size() / 2] ^= std::byte{1};
    CHECK(kept(damaged).ends_with("is damaged: skipped"));
    CHECK(kept(Bytes(100)) == "this is not an mmioscope trace file");
    CHECK(kept(mixed_trace(1, 2)).empty()); // it would not shrink
    CHECK_THROWS_AS(pack("/nowhere/t.mmio"), Error);
    CHECK_NOTHROW(pack("/dev/null"));
}

TEST_CASE("a full disk leaves the plain file") {
    const Bytes plain = mixed_trace(100, 100);
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
    std::signal(SIGXFSZ, SIG_IGN);
    const Folder folder;
    write(folder / "t.mmio", plain);
    const rlimit few{2000, before.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &few) == 0);
    std::string problem;
    try {
        pack(folder / "t.mmio");
    } catch (const Error& error) {
        problem = error.what();
    }
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
    std::signal(SIGXFSZ, SIG_DFL);
    CHECK(problem == "cannot write the trace: File too large");
    CHECK(bytes_at(folder / "t.mmio") == plain);
    CHECK(alone(folder));
}
