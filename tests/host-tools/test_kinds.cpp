// Each row of the kinds of records (records/kinds.hpp) through each filter, printer, export but
// that of a part (tests/export/part.sh), index, pack and back.
#include "abi/payload.hpp"
#include "export/formats.hpp"
#include "file/packing.hpp"
#include "file/trace_check.hpp"
#include "filter/filter.hpp"
#include "mmioscope/trace.hpp"
#include "reading/trace.hpp"
#include "reading_all.hpp"
#include "records/groups.hpp"
#include "records/kinds.hpp"
#include "sample_event.hpp"
#include "view/line.hpp"
#include "wires.hpp"

#include <filesystem>
#include <fstream>
#include <set>

using namespace mmioscope;
using namespace mmioscope::test;
using trace::Kind;
using trace::kinds;

namespace {

std::vector<abi::RecordType> all_types() {
    std::vector<abi::RecordType> all;
    for (std::size_t type = 0; type < kinds.size(); ++type) {
        if (!kinds[type].word.empty()) {
            all.push_back(static_cast<abi::RecordType>(type));
        }
    }
    return all;
}

std::vector<std::string> words_of(const Kind& kind) {
    std::vector<std::string> words{std::string(kind.word)};
    for (const std::string_view synonym : kind.synonyms) {
        if (!synonym.empty()) {
            words.emplace_back(synonym);
        }
    }
    return words;
}

using Records = std::vector<abi::Record>;

/// One record of each kind, in this order; each, except losses, owns a payload of 100 bytes.
Records one_of_each() {
    Records all;
    std::uint32_t number = 0; // of its CPU
    for (const abi::RecordType type : all_types()) {
        abi::Record record = access(0, number, 10 + 10 * std::uint64_t{number});
        record.type = type;
        record.lock_sequence = number;
        record.value = 0x1234;
        if (type == abi::RecordType::gap) { // of nothing: the next record has its number
            record.value = 0;
            all.push_back(record);
        } else if (type != abi::RecordType::payload) { // there are those of the others
            const Records group = test::group(record, 100);
            all.insert(all.end(), group.begin(), group.end());
            number += static_cast<std::uint32_t>(group.size());
        }
    }
    return all;
}

Bytes trace_of(const Records& records) {
    return trace_bytes([&](trace::FileWriter& writer) {
        write_info(writer);
        write_regions(writer, {region(0x1c09'0000, 0x1000, "/bus/serial@90000")});
        writer.append(records);
        writer.finish(0, abi::Ending::machine_off);
    });
}

bool same(const abi::Record& a, const abi::Record& b) {
    return std::memcmp(&a, &b, sizeof a) == 0;
}

/// The records of a trace, each with its number.
void check_reads_back(const Bytes& bytes, const Records& records) {
    MemorySource checked(bytes);
    CHECK(fmt::format("{}", fmt::join(trace::check_trace(checked).problems, "\n")) == "");
    MemorySource source(bytes);
    reading::Trace trace({}, source);
    Records all;
    while (const Event* event = trace.next()) {
        const Records& pieces = event->payload().pieces;
        all.push_back(event->record);
        all.insert(all.end(), pieces.begin(), pieces.end());
    }
    CHECK(std::ranges::equal(all, records, same));
}

std::string text_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// A trace, read without the guest's code if `no_pc`.
class Read {
public:
    explicit Read(const Records& records, bool no_pc = false)
        : bytes_(trace_of(records)), source_(bytes_), trace_(options(no_pc), source_) {}

    template <typename Take>
    void each(const Take& take) {
        while (const Event* event = trace_.next()) {
            take(*event);
        }
    }
    const trace::TraceReader& reader() const { return trace_.reader(); }

private:
    static reading::TraceOptions options(bool no_pc) {
        reading::TraceOptions options;
        options.no_pc = no_pc;
        return options;
    }
    Bytes bytes_;
    MemorySource source_;
    reading::Trace trace_;
};

/// Everything that a format writes of one_of_each(), and what it says that it leaves out.
std::string exported(const exporting::Format& format) {
    const Folder folder;
    const std::string path = folder / "out";
    Read read(one_of_each());
    std::string all;
    {
        const auto destination = format.open(path);
        exporting::Exporter& exporter = destination->exporter();
        exporter.begin(read.reader());
        read.each([&](const Event& event) { exporter.add(event); });
        exporter.finish();
        destination->finish();
        all = fmt::format("{}", fmt::join(exporter.left_out(), "\n"));
    }
    return all + text_of(std::filesystem::is_directory(path) ? path + "/metadata" : path);
}

} // namespace

TEST_CASE("kinds: each has a word of its own, and filters take its synonyms") {
    SampleEvent sample;
    for (const abi::RecordType type : all_types()) {
        for (const std::string& word : words_of(trace::kind_of(type))) {
            const filter::Filter filter("type==" + word);
            for (const abi::RecordType other : all_types()) {
                CAPTURE(word, trace::type_word(other));
                sample.record.type = other;
                CHECK(filter(sample.event()) == (other == type));
            }
        }
    }
    for (std::size_t type = kinds.size(); type < 256; ++type) { // the table would lack its row
        CHECK(trace::row_of(static_cast<abi::RecordType>(type)).word.empty());
    }
    sample.record.type = abi::RecordType{200};
    CHECK(trace::type_word(sample.record.type) == "unknown");
    CHECK(!trace::has_place(sample.record.type));
    CHECK(!trace::has_value(sample.record));
}

TEST_CASE("kinds: each is in each export") {
    for (const exporting::Format& format : exporting::formats()) {
        if (format.open == nullptr) { // copies records
            continue;
        }
        const std::string all = exported(format);
        for (const abi::RecordType type : all_types()) {
            const bool two = format.name == "ctf" && type == abi::RecordType::access;
            CAPTURE(format.name, trace::type_word(type));
            if (format.name == "folded") { // has only stacks, and counts accesses without one
                CHECK_THAT(all, Catch::Contains("accesses have no stack"));
            } else if (format.name ==
                       "mmiotrace") { // has only accesses and marks, and counts the rest
                CHECK_THAT(all, Catch::Contains("records that are not accesses by the guest"));
            } else {
                CHECK_THAT(all,
                           Catch::Contains(two ? "read" : std::string(trace::type_word(type))));
            }
        }
    }
}

TEST_CASE("kinds: each has a line of its own, raw or not") {
    for (const bool raw : {false, true}) {
        view::LineStyle style;
        style.raw = raw;
        std::set<std::string> lines;
        std::size_t count = 0;
        Read(one_of_each()).each([&](Event event) {
            const abi::RecordType type = event.record.type;
            if (type != abi::RecordType::payload || abi::piece_index(event.record) == 0) {
                view::LineFormat format(style);
                TextBuffer line;
                event.nanoseconds = 0;
                format.append(line, event);
                lines.emplace(line.view());
                ++count;
            }
        });
        CHECK(lines.size() == count);
    }
}

TEST_CASE("kinds: each comes back from a file, packed or not, and from any place in it") {
    const Records records = one_of_each();
    const Bytes bytes = trace_of(records);
    check_reads_back(bytes, records);
    const Folder folder;
    const std::string path = folder / "t.mmio";
    append(create_output(path).get(), bytes, "a test's file");
    trace::pack_file(path, open_input(path).get(), [](auto, auto) { return true; });
    check_reads_back(contents(open_input(path).get()), records);
    for (std::size_t number = 1; number <= records.size(); ++number) {
        TraceFile trace(path);
        trace.seek_number(number);
        const Event* const event = trace.next();
        if (records[number - 1].type == abi::RecordType::payload) { // is no event
            CHECK((event == nullptr || event->number > number));
        } else {
            REQUIRE(event != nullptr);
            CHECK(same(event->record, records[number - 1]));
        }
    }
}

TEST_CASE("kinds: the index says of each whether later records depend on it") {
    for (const abi::RecordType type : all_types()) {
        abi::Record record = access(0, 0, 10);
        record.type = type;
        CAPTURE(trace::type_word(type));
        CHECK(trace::extent_of(std::span(&record, 1)).teaches == trace::teaches(type));
    }
}

TEST_CASE("kinds: none shows where the guest's code is if it must not") {
    Records records = one_of_each();
    constexpr std::uint32_t code = 0xc050'4d10;
    for (abi::Record& record : records) {
        if (record.type != abi::RecordType::task) { // has a name in these fields
            record.pc = record.lr = record.sp = record.va = code;
        }
        if (record.type == abi::RecordType::power || record.type == abi::RecordType::fetch) {
            abi::set_physical_address(record, code);
        }
    }
    Read(records, true).each([&](const Event& event) {
        const std::string_view bytes(reinterpret_cast<const char*>(&event.record), 64);
        CAPTURE(trace::type_word(event.record.type));
        CHECK(bytes.find({reinterpret_cast<const char*>(&code), 4}) == std::string_view::npos);
    });
}
