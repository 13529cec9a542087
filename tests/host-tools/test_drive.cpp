// The one loop that reads a trace: what its consumers receive, and what ends it.
#include "abi/control.hpp"
#include "reading/drive.hpp"
#include "records.hpp"
#include "system/byte_source.hpp"
#include "system/error.hpp"

#include <cstring>

using namespace mmioscope;
using namespace mmioscope::test;
using reading::drive;
using reading::Driven;
using reading::DriveOptions;
using reading::Ended;
using reading::Losses;
using reading::Strict;

namespace {

/// Writes a word for each call.
class Log final : public reading::Consumer {
public:
    void add(const Event& event) override {
        ++events;
        const abi::Record& record = event.record;
        switch (record.type) {
        case abi::RecordType::gap:
            say(fmt::format("cpu{}:{}+{}@{}", record.cpu, record.cpu_sequence, record.value,
                            event.nanoseconds / 1000));
            break;
        case abi::RecordType::marker:
            say(event.text_id() == no_id ? "piece" : std::string(event.text()));
            break;
        default: say(std::to_string(record.cpu_sequence)); break;
        }
    }
    void add_unended(const Event& marker) override {
        say(fmt::format("unended {}@{}", marker.text(), marker.nanoseconds / 1000));
    }
    void forget() override { ++forgotten; }
    void finish() override { say("end"); }
    bool enough() const override { return events >= most; }

    std::string words;
    std::uint64_t events = 0;
    std::uint64_t most = UINT64_MAX; ///< the most events that it accepts
    unsigned forgotten = 0;

private:
    void say(const std::string& word) {
        if (words.size() < 1000) {
            words += (words.empty() ? "" : " ") + word;
        }
    }
};

/// A trace in memory with the records from `write`, read from its start.
class Read {
public:
    Read(const std::function<void(trace::FileWriter&)>& write,
         const reading::TraceOptions& options = {})
        : bytes_(trace_bytes([&write](trace::FileWriter& writer) {
              write_info(writer);
              write(writer);
          })) {
        open(options);
    }

    /// Without its last `count` bytes.
    void cut(std::size_t count) {
        bytes_.resize(bytes_.size() - count);
        open({});
    }
    /// Changes a byte at the start of the first section of records.
    void damage() {
        const abi::Record record = access(0, 0, 0);
        const auto first = std::as_bytes(std::span(&record, 1));
        const auto at = std::search(bytes_.begin(), bytes_.end(), first.begin(), first.end());
        REQUIRE(at != bytes_.end());
        *at ^= std::byte{0xff};
        open({});
    }

    Read(const Read&) = delete;
    Read& operator=(const Read&) = delete;

    reading::Trace& trace() { return *trace_; }
    std::vector<std::string> problems;

private:
    void open(reading::TraceOptions options) {
        options.report = [this](const std::string& line) { problems.push_back(line); };
        options.start = 0;
        source_ = std::make_unique<MemorySource>(bytes_);
        trace_ = std::make_unique<reading::Trace>(options, *source_);
    }

    std::vector<std::byte> bytes_;
    std::unique_ptr<MemorySource> source_;
    std::unique_ptr<reading::Trace> trace_;
};

void append(trace::FileWriter& writer, const abi::Record& record) {
    writer.append(std::span(&record, 1));
}

/// Writes accesses of CPU 0, numbered from 0.
auto accesses(std::uint32_t count) {
    return [count](trace::FileWriter& writer) {
        for (std::uint32_t i = 0; i < count; ++i) {
            append(writer, access(0, i, i));
        }
        writer.finish(0, abi::Ending::machine_off);
    };
}

abi::Record gap(std::uint32_t sequence, std::uint64_t count, std::uint64_t time) {
    abi::Record record = access(0, sequence, time);
    record.type = abi::RecordType::gap;
    record.device = abi::no_device;
    record.value = count;
    return record;
}

/// A piece of a marker's text; zeros end it.
abi::Record piece(std::uint16_t id, const char (&text)[9], std::uint64_t time) {
    abi::Record record = access(0, id, time);
    record.type = abi::RecordType::marker;
    record.device = abi::no_device;
    record.pa_low =
        static_cast<std::uint32_t>(abi::control::Command::marker_text) | std::uint32_t{id} << 16;
    std::memcpy(&record.value, text, sizeof record.value);
    return record;
}

/// CPU 0 begins with its fourth record, and lacks two, then five reported by a gap, and its last
/// one; CPU 1 has no records.
void lossy(trace::FileWriter& writer) {
    for (const std::uint32_t sequence : {3u, 4u, 7u}) {
        append(writer, access(0, sequence, 10 * sequence));
    }
    append(writer, gap(8, 5, 80));
    append(writer, access(0, 13, 130));
    const abi::Loss losses[] = {
        {0, 0, 3, 0}, {0, 5, 2, 70}, {0, 8, 5, 80}, {0, 14, 1, 200}, {1, 0, 4, 20}};
    writer.flush();
    writer.values(abi::SectionType::losses, std::span<const abi::Loss>(losses));
    writer.finish(15, abi::Ending::machine_off);
}

} // namespace

TEST_CASE("drive: each consumer gets each event, and is told of the end") {
    Read read(accesses(3));
    Log first, second;
    const Driven driven = drive(read.trace(), {&first, nullptr, &second});
    CHECK(driven.ended == Ended::trace);
    CHECK(driven.events == 3);
    CHECK(driven.lost == 0);
    CHECK(first.words == "0 1 2 end");
    CHECK(second.words == "0 1 2 end");
}

TEST_CASE("drive: consumers get a group of events one after the other, in their order") {
    struct Turn final : reading::Consumer {
        Turn(std::string& to, char name) : all(to), its(name) {}
        void add(const Event&) override { all += its; }
        void finish() override { all += std::string("!") + its; }
        std::string& all;
        char its;
    };
    Read read(accesses(2));
    std::string order;
    Turn a(order, 'a');
    Turn b(order, 'b');
    drive(read.trace(), {&b, &a});
    CHECK(order == "bbaa!b!a");
}

TEST_CASE("drive: at most the requested number of events is read") {
    Read read(accesses(5));
    const auto words = [&read](std::uint64_t limit, Ended ended) {
        DriveOptions options;
        options.limit = limit;
        Log log;
        CHECK(drive(read.trace(), {&log}, options).ended == ended);
        return log.words;
    };
    CHECK(words(0, Ended::limit) == "end");
    CHECK(words(2, Ended::limit) == "0 1 end");
    CHECK(words(3, Ended::limit) == "2 3 4 end"); // the next one continues
    CHECK(words(1, Ended::trace) == "end");
}

TEST_CASE("drive: the stop function is polled, and consumers finish what they have") {
    Read read(accesses(20'000));
    DriveOptions options;
    unsigned asked = 0;
    options.stop = [&asked] { return ++asked == 3; };
    Log log;
    const Driven driven = drive(read.trace(), {&log}, options);
    CHECK(driven.ended == Ended::stopped);
    CHECK(asked == 3);
    CHECK(driven.events == log.events);
    CHECK(log.events > 0);
    CHECK(log.events < 20'000);
    log.words.clear();
    options.stop = [] { return false; };
    CHECK(drive(read.trace(), {&log}, options).ended == Ended::trace);
    CHECK(log.events == 20'000);
}

TEST_CASE("drive: when one consumer has enough, no consumer is finished") {
    Read read(accesses(20'000));
    Log all, some;
    some.most = 10;
    const Driven driven = drive(read.trace(), {&all, &some});
    CHECK(driven.ended == Ended::enough);
    CHECK(driven.events == all.events);
    CHECK(all.events < 20'000);
    CHECK(all.words.find("end") == std::string::npos);
    CHECK(some.words.find("end") == std::string::npos);
}

TEST_CASE("drive: losses are passed on as the gap records of the trace") {
    Read read(lossy);
    Log log;
    const Driven driven = drive(read.trace(), {&log});
    CHECK(log.words == "3 4 7 cpu0:8+5@80 13 end");
    CHECK(driven.events == 5);
    CHECK(driven.lost == 0);
}

TEST_CASE("drive: all losses are passed on once, where numbers are missing and at the end") {
    DriveOptions options;
    options.losses = Losses::all;
    Read read(lossy);
    Log log;
    const Driven driven = drive(read.trace(), {&log}, options);
    CHECK(log.words == "3 4 cpu0:5+2@70 7 cpu0:8+5@80 13 "
                       "cpu0:0+3@130 cpu0:14+1@130 cpu1:0+4@130 end");
    CHECK(driven.lost == 15);
    SECTION("but not the losses at the end if the end was not reached") {
        Read again(lossy);
        Log some;
        options.limit = 3;
        CHECK(drive(again.trace(), {&some}, options).lost == 2);
        CHECK(some.words == "3 4 cpu0:5+2@70 7 end");
    }
    SECTION("nor those that a file without an end may report") {
        read.cut(1);
        Log of_cut;
        CHECK(drive(read.trace(), {&of_cut}, options).lost == 7);
        CHECK(of_cut.words == "3 4 cpu0:5+2@70 7 cpu0:8+5@80 13 end");
    }
    SECTION("with a filter, only those that the trace reports") {
        reading::TraceOptions selection;
        selection.filter = "seq != 4";
        Read some(lossy, selection);
        Log of_some;
        CHECK(drive(some.trace(), {&of_some}, options).lost == 15);
        CHECK(of_some.words == "3 7 13 cpu0:0+3@130 cpu0:5+2@130 cpu0:8+5@130 cpu0:14+1@130 "
                               "cpu1:0+4@130 end");
    }
}

TEST_CASE("drive: an event that stands for a loss has no place and no other names") {
    struct Last final : reading::Consumer {
        void add(const Event& event) override { last = event; }
        Event last;
    } last;
    DriveOptions options;
    options.losses = Losses::all;
    Read read(lossy);
    drive(read.trace(), {&last}, options);
    CHECK(last.last.record.type == abi::RecordType::gap);
    CHECK(last.last.record.time == 130); // not before the last record
    CHECK(last.last.number == 0);
    CHECK(last.last.device() == "-");
    CHECK(last.last.reg() == nullptr);
    CHECK(last.last.code() == nullptr);
    CHECK(last.last.task() == nullptr);
    CHECK(last.last.text().empty());
}

TEST_CASE("drive: strict reading ends at the first loss, before any consumer gets it") {
    DriveOptions options;
    options.strict = GENERATE(Strict::events, Strict::whole);
    options.losses = GENERATE(Losses::records, Losses::all);
    Read read([](trace::FileWriter& writer) {
        append(writer, access(0, 0, 0));
        append(writer, gap(1, 6, 1));
        append(writer, access(0, 7, 2));
        writer.finish(6, abi::Ending::machine_off);
    });
    Log log;
    CHECK_THROWS_WITH(drive(read.trace(), {&log}, options),
                      "6 records of cpu 0 were lost: stopped (--strict)");
    CHECK(log.words == "0");
}

TEST_CASE("drive: strict reading ends at the first damage, before any consumer gets what follows") {
    const auto two_sections = [](trace::FileWriter& writer) {
        append(writer, access(0, 0, 0));
        writer.flush();
        append(writer, access(0, 1, 1));
        writer.finish(0, abi::Ending::machine_off);
    };
    Read read(two_sections);
    read.damage();
    Log log;
    DriveOptions options;
    SECTION("not strict") {
        CHECK(drive(read.trace(), {&log}).ended == Ended::trace);
        CHECK(log.words == "1 end");
    }
    SECTION("strict") {
        options.strict = GENERATE(Strict::events, Strict::whole);
        try {
            drive(read.trace(), {&log}, options);
            FAIL("it was not stopped");
        } catch (const Error& error) {
            CHECK(error.status() == Status::failed);
            CHECK(std::string(error.what()) == "the trace is damaged: stopped (--strict)");
        }
        CHECK(log.words.empty());
    }
    CHECK(read.problems.size() == 1);
}

TEST_CASE("drive: errors at the end of a trace matter only if the whole trace is wanted") {
    std::function<void(trace::FileWriter&)> write = accesses(2);
    std::size_t cut = 0;
    std::string why;
    SECTION("it is cut") {
        cut = 1;
        why = "the trace is cut off: stopped (--strict)";
    }
    SECTION("it has fewer records than its end says") {
        write = [](trace::FileWriter& writer) {
            append(writer, access(0, 0, 0));
            append(writer, access(0, 1, 1));
            writer.flush();
            abi::End end{};
            end.records = 3;
            end.ending = abi::Ending::machine_off;
            writer.values(abi::SectionType::end, std::span<const abi::End>(&end, 1));
        };
        why = "the trace is damaged: stopped (--strict)";
    }
    Read read(write);
    read.cut(cut);
    DriveOptions options;
    options.strict = Strict::events;
    options.limit = 1;
    Log log;
    drive(read.trace(), {&log}, options);
    CHECK(log.words == "0 end");
    options.limit = UINT64_MAX;
    options.strict = GENERATE(Strict::events, Strict::whole);
    if (options.strict == Strict::whole) {
        CHECK_THROWS_WITH(drive(read.trace(), {&log}, options), why);
        CHECK(log.words == "0 end 1");
    } else {
        CHECK(drive(read.trace(), {&log}, options).ended == Ended::trace);
        CHECK(log.words == "0 end 1 end");
    }
}

TEST_CASE("drive: a missing file of a trace matters only if the whole trace is wanted") {
    const FileDescriptor file = memory_file("t.mmio", 0);
    {
        trace::WriteProgress progress;
        trace::FileWriter writer(file.get(), progress);
        write_info(writer);
        writer.text("part=1\n");
        append(writer, access(0, 0, 0));
        writer.finish(0, abi::Ending::continued);
    }
    reading::TraceOptions selection;
    selection.path = fmt::format("/proc/self/fd/{}", file.get());
    DriveOptions options;
    options.strict = GENERATE(Strict::events, Strict::whole);
    reading::Trace trace(selection);
    Log log;
    if (options.strict == Strict::whole) {
        CHECK_THROWS_WITH(drive(trace, {&log}, options), Catch::EndsWith(": stopped (--strict)"));
        CHECK(!trace.reader().missing_part().empty());
        CHECK(log.words == "0");
    } else {
        drive(trace, {&log}, options);
        CHECK(log.words == "0 end");
    }
}

TEST_CASE("drive: the last record of a marker's text has the whole text") {
    Read read([](trace::FileWriter& writer) {
        append(writer, piece(5, "one mark", 1));
        append(writer, access(0, 6, 2));
        append(writer, piece(6, " in two\0", 3));
        append(writer, piece(900, "alone\0\0\0", 4));
        writer.finish(0, abi::Ending::machine_off);
    });
    Log log;
    CHECK(drive(read.trace(), {&log}).events == 4);
    CHECK(log.words == "piece 6 \"one mark in two\" \"alone\" end");
}

TEST_CASE("drive: unfinished texts are reported after all events, with their last piece's time") {
    Read read([](trace::FileWriter& writer) {
        append(writer, piece(5, "a text w", 10));
        append(writer, piece(600, "another ", 20));
        append(writer, piece(6, "ithout e", 30));
        append(writer, access(0, 7, 40));
        writer.finish(0, abi::Ending::machine_off);
    });
    Log log;
    drive(read.trace(), {&log});
    CHECK(log.words == "piece piece piece 7 unended \"a text without e\"...@30 "
                       "unended \"another \"...@20 end");
}

TEST_CASE("drive: a text that continues in the next trace is reported there") {
    trace::MarkerTexts markers;
    reading::TraceOptions options;
    options.markers = &markers;
    Read first(
        [](trace::FileWriter& writer) {
            append(writer, piece(5, "it goes ", 1));
            append(writer, piece(70, "this not", 2));
            writer.finish(0, abi::Ending::continued);
        },
        options);
    Log log;
    drive(first.trace(), {&log});
    CHECK(log.words == "piece piece end");
    CHECK(markers.open().size() == 2);
    Read second(
        [](trace::FileWriter& writer) {
            append(writer, piece(6, "on\0\0\0\0\0\0", 3));
            writer.finish(0, abi::Ending::machine_off);
        },
        options);
    drive(second.trace(), {&log});
    CHECK(log.words == "piece piece end \"it goes on\" end");
    REQUIRE(markers.open().size() == 1);
    CHECK(markers.open()[0].text == "\"this not\"...");
}

TEST_CASE("drive: consumers are told when names are dropped, but only while they are driven") {
    Read read([](trace::FileWriter& writer) {
        for (std::uint32_t i = 0; i < 60'000; ++i) {
            abi::Record record = access(0, i, i);
            record.pa_low = 4 * i;
            append(writer, record);
        }
        writer.finish(0, abi::Ending::machine_off);
    });
    /// Keeps events as long as they are valid, and checks that their names stay the same.
    struct Keeper final : reading::Consumer {
        void add(const Event& event) override {
            event.settle();
            kept.push_back(event);
            lost += event.offset() == 4 * event.record.cpu_sequence ? 0 : 1;
        }
        void forget() override {
            ++times;
            for (const Event& event : kept) {
                lost += event.offset() == 4 * event.record.cpu_sequence ? 0 : 1;
            }
            kept.clear();
        }
        std::vector<Event> kept;
        unsigned times = 0;
        unsigned lost = 0;
    };
    {
        Keeper keeper;
        Log log;
        DriveOptions options;
        options.limit = 30'000;
        drive(read.trace(), {&keeper, &log}, options);
        CHECK(keeper.times > 1);
        CHECK(keeper.lost == 0);
        CHECK(log.forgotten == keeper.times);
    }
    for (unsigned i = 0; i < 15'000; ++i) { // names are dropped, after those consumers are gone
        read.trace().next()->settle();
    }
    Keeper rest;
    CHECK(drive(read.trace(), {&rest}).events == 15'000);
    CHECK(rest.times > 0);
    CHECK(rest.lost == 0);
}
