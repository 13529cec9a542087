// The trace file: what is written is read back, and damage costs only the damaged part.
#include "catch_2_or_3.hpp"
#include "cpu_time.hpp"
#include "file/trace_reader.hpp"
#include "records.hpp"
#include "system/byte_source.hpp"
#include "system/crc.hpp"
#include "system/error.hpp"
#include "tree_maker.hpp"

#include <algorithm>
#include <cstring>

using namespace mmioscope;
using namespace mmioscope::test;

namespace {

using Bytes = std::vector<std::byte>;

/// Three sections of records, so that damage to one leaves two.
Bytes small_trace() {
    return trace_bytes([](trace::FileWriter& writer) {
        write_info(writer);
        write_regions(writer, {region(0x1c09'0000, 0x1000, "/bus/serial@90000")});
        for (std::uint32_t i = 0; i < 6; ++i) {
            const abi::Record record = access(0, i, 100 + i);
            writer.append(std::span(&record, 1));
            if (i % 2 == 1) {
                writer.flush();
            }
        }
        writer.finish(0, abi::Ending::machine_off);
    });
}

struct Read {
    std::vector<std::uint32_t> sequences;
    unsigned problems = 0;
    bool whole = false;
    bool refused = false;
};

Read read(const Bytes& bytes) {
    Read result;
    try {
        MemorySource source(bytes);
        trace::TraceReader reader(source, [&](const std::string&) { ++result.problems; });
        for (auto records = reader.next(); !records.empty(); records = reader.next()) {
            for (const abi::Record& record : records) {
                REQUIRE(record.value == record.cpu_sequence);
                REQUIRE(record.time == 100 + record.cpu_sequence);
                REQUIRE(record.pc == 0xc000'0000 + record.cpu_sequence);
                result.sequences.push_back(record.cpu_sequence);
            }
        }
        result.whole = reader.sound();
    } catch (const Error& error) {
        REQUIRE(error.status() == Status::bad_input);
        result.refused = true;
    }
    return result;
}

/// Puts a section of an unknown type before the others, even one that no FileWriter writes.
Bytes with_unknown_section(std::size_t size) {
    Bytes section(sizeof(abi::SectionHeader) + size + (8 - size % 8) % 8);
    abi::SectionHeader header{abi::section_magic, static_cast<abi::SectionType>(999), size,
                              crc(Bytes(size)), 0};
    header.header_crc = crc_before(header, offsetof(abi::SectionHeader, header_crc));
    std::memcpy(section.data(), &header, sizeof header);
    Bytes bytes = trace_bytes([&](trace::FileWriter& writer) {
        const abi::Record record = access(0, 0, 100);
        writer.append(std::span(&record, 1));
        writer.finish(0, abi::Ending::machine_off);
    });
    bytes.insert(bytes.begin() + sizeof(abi::FileHeader), section.begin(), section.end());
    return bytes;
}

} // namespace

TEST_CASE("a trace file is read as it was written") {
    const Read result = read(small_trace());
    CHECK(result.sequences == std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5});
    CHECK(result.whole);
    CHECK(result.problems == 0);
}

TEST_CASE("a cut file gives every whole record before the cut") {
    const Bytes whole = small_trace();
    std::vector<std::size_t> record_ends;
    for (std::size_t at = 0; at + 4 <= whole.size(); at += 8) {
        abi::SectionHeader header{};
        if (at + sizeof header <= whole.size()) {
            std::memcpy(&header, whole.data() + at, sizeof header);
        }
        for (std::size_t n = 64; header.magic == abi::section_magic && n <= header.size &&
                                 header.type == abi::SectionType::records;
             n += 64) {
            record_ends.push_back(at + sizeof header + n);
        }
    }
    REQUIRE(record_ends.size() == 6);
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const Read result = read(Bytes(whole.begin(), whole.begin() + std::ptrdiff_t(size)));
        const auto expected = std::count_if(record_ends.begin(), record_ends.end(),
                                            [&](std::size_t end) { return end <= size; });
        REQUIRE(result.sequences.size() == std::size_t(expected));
        REQUIRE(!result.whole);
        REQUIRE(result.refused == (size < sizeof(abi::FileHeader)));
    }
}

TEST_CASE("a flipped byte never makes a wrong record look right") {
    const Bytes whole = small_trace();
    for (std::size_t at = 0; at < whole.size(); ++at) {
        for (const unsigned mask : {0x01u, 0x80u, 0xffu}) {
            Bytes bytes = whole;
            bytes[at] ^= std::byte(mask);
            const Read result = read(bytes); // checks each record
            REQUIRE(std::is_sorted(result.sequences.begin(), result.sequences.end()));
            REQUIRE((result.refused || result.sequences.size() >= 4));
            REQUIRE((result.refused || result.sequences.size() == 6 || !result.whole));
        }
    }
}

TEST_CASE("another major version is refused in one line, which says what to do") {
    for (const int other : {-1, 1}) {
        Bytes bytes = small_trace();
        abi::FileHeader header{};
        std::memcpy(&header, bytes.data(), sizeof header);
        header.version_major = static_cast<std::uint16_t>(abi::file_version_major + other);
        header.header_crc = crc_before(header, offsetof(abi::FileHeader, header_crc));
        std::memcpy(bytes.data(), &header, sizeof header);
        MemorySource source(bytes);
        CHECK_THROWS_WITH(
            trace::TraceReader(source, [](const std::string&) {}),
            Catch::Contains(fmt::format("format version {}.{}, this program reads {}: read it with",
                                        header.version_major, header.version_minor,
                                        abi::file_version_major)) &&
                !Catch::Contains("\n"));
    }
}

TEST_CASE("sections of unknown type are skipped, whatever their size") {
    for (const std::size_t size : {0u, 1u, 7u, 8u, 4096u, 17u << 20}) {
        CHECK(read(with_unknown_section(size)).sequences.size() == 1);
    }
}

TEST_CASE("a file that is not a trace is refused") {
    CHECK(read({}).refused);
    CHECK(read(Bytes(1000)).refused);
}

TEST_CASE("naming devices stays fast, however often the trace describes them") {
    std::vector<std::byte> tree(400'000);
    TreeMaker make(tree);
    make.node("", [&] {
        make.node("aliases", [&] {
            for (unsigned i = 0; i < 5'000; ++i) {
                make.strings(fmt::format("alias{}", i).c_str(), {"/nowhere"});
            }
        });
    });
    make.finish(tree);
    const std::vector<abi::RegionEntry> regions = {region(0x1000, 0x10, "/bus/serial@90000")};
    const Bytes bytes = trace_bytes([&](trace::FileWriter& writer) {
        write_info(writer);
        writer.section(abi::SectionType::device_tree, tree);
        for (unsigned i = 0; i < 2'000; ++i) {
            writer.section(abi::SectionType::regions, {});
        }
        write_regions(writer, regions);
        writer.finish(0, abi::Ending::machine_off);
    });
    MemorySource source(bytes);
    CHECK(cpu_seconds([&] {
              trace::TraceReader reader(source, [](const std::string& text) { FAIL(text); });
              CHECK(reader.names()[0] == "serial@90000");
          }) < 3);
}

TEST_CASE("text sections become keys and values") {
    const Bytes bytes = trace_bytes([](trace::FileWriter& writer) {
        writer.text("kernel=vmlinuz\nappend=a=b c\nno value\n");
        writer.finish(0, abi::Ending::interrupted);
    });
    MemorySource source(bytes);
    trace::TraceReader reader(source, [](const std::string&) {});
    CHECK(reader.next().empty());
    CHECK(reader.text().at("kernel") == "vmlinuz");
    CHECK(reader.text().at("append") == "a=b c");
    CHECK(reader.text().size() == 2);
    CHECK(reader.end()->ending == abi::Ending::interrupted);
}

TEST_CASE("a trace's text takes bounded memory") {
    const std::vector<std::byte> bytes = trace_bytes([](trace::FileWriter& writer) {
        write_info(writer);
        std::string lines;
        for (unsigned i = 0; i < 70'000; ++i) {
            lines += fmt::format("{}=\n", i);
        }
        writer.text(lines);
        writer.text("long=" + std::string(trace::max_payload - 100, 'x'));
        writer.text("longer=" + std::string(trace::max_payload - 100, 'x'));
        writer.append(std::vector{access(0, 0, 10)});
    });
    MemorySource source(bytes);
    trace::TraceReader reader(source, [](const std::string& text) { FAIL(text); });
    while (!reader.next().empty()) {
    }
    std::size_t size = 0;
    for (const auto& [key, value] : reader.text()) {
        size += key.size() + value.size();
    }
    CHECK(reader.text().size() == 65'536);
    CHECK(size <= trace::max_payload);
}
