// Sections whose payload is one zstd frame: read like plain ones, sound, cut off and hostile.
#include "file/packing.hpp"
#include "random_trace.hpp"
#include "reading_all.hpp"
#include "system/crc.hpp"
#include "system/open_source.hpp"
#include "wires.hpp"

#include <zstd.h>

using namespace mmioscope;
using namespace mmioscope::test;

namespace {

constexpr abi::SectionType packed(abi::SectionType type) {
    return abi::SectionType{static_cast<std::uint32_t>(type) | abi::section_zstd};
}

Bytes text(std::size_t size) {
    Bytes bytes(size);
    for (std::size_t i = 0; i < size; ++i) {
        bytes[i] = std::byte("key=value\n"[i % 10]);
    }
    return bytes;
}

Bytes frame_of(std::span<const std::byte> bytes) {
    const auto frame = zstd_frame(bytes);
    REQUIRE(frame);
    return *frame;
}

/// A file without an end, with a packed text that contains `frame`, and a plain one.
Bytes file_with(std::span<const std::byte> frame, abi::SectionType type = abi::SectionType::text) {
    return trace_bytes([&](trace::FileWriter& writer) {
        write_info(writer);
        writer.section(packed(type), frame);
        writer.text("behind=yes\n");
    });
}

struct Read {
    explicit Read(const Bytes& bytes) {
        MemorySource source(bytes);
        trace::FileReader reader(source, [&](const std::string& text) { reports += text + "\n"; });
        while (const auto section = reader.next()) {
            cut = cut || section->cut;
            if (section->type != abi::SectionType::index) {
                all.emplace_back(section->type,
                                 Bytes(section->payload.begin(), section->payload.end()));
            }
        }
    }
    std::vector<std::pair<abi::SectionType, Bytes>> all;
    std::string reports;
    bool cut = false;
};

} // namespace

TEST_CASE("a packed section reads as its content") {
    const Bytes long_text = text(100'003);
    const Bytes frame = frame_of(long_text);
    CHECK(frame.size() < 1000);
    const Read read(file_with(frame));
    CHECK(read.reports.empty());
    REQUIRE(read.all.size() == 3);
    CHECK(read.all[1] == std::pair(abi::SectionType::text, long_text));
    CHECK(read.all[2].second.size() == 11);
    CHECK(!zstd_frame(text(70)));
    // Records have blocks: with the bit their type is unknown.
    std::vector<abi::Record> records;
    for (std::uint32_t i = 0; i < 100; ++i) {
        records.push_back(access(0, i, 1000 + i));
    }
    const auto bytes = std::as_bytes(std::span(records));
    const Bytes with_records = file_with(frame_of(bytes), abi::SectionType::records);
    MemorySource source(with_records);
    const ReadAll all(source);
    CHECK(all.records.empty());
    CHECK(all.problems.empty());
}

TEST_CASE("a damaged, cut or too long packed section is left out, and others are read") {
    const Bytes frame = frame_of(text(10'000));
    const auto left_out = [](const Bytes& bytes) {
        const Read read(file_with(bytes));
        CHECK(read.reports.find("section at byte ") == 0);
        CHECK(read.reports.find("is damaged: skipped") != std::string::npos);
        CHECK(read.all.size() == 2);
    };
    for (std::size_t i = 0; i < frame.size(); ++i) {
        Bytes other = frame;
        other[i] ^= std::byte{0xff};
        const Read read(file_with(other));
        CHECK(read.all.back().second.size() == 11);
        CHECK(read.all.size() == (read.reports.empty() ? 3 : 2));
    }
    left_out(Bytes(frame.begin(), frame.end() - 1));
    left_out({});
    left_out(text(100));
    left_out(frame_of(text((16u << 20) + 1)));
    CHECK(Read(file_with(frame_of(text(16u << 20)))).all.size() == 3);
    SECTION("a frame without its size") {
        const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(),
                                                                           ZSTD_freeCCtx);
        ZSTD_CCtx_setParameter(context.get(), ZSTD_c_contentSizeFlag, 0);
        const Bytes bytes = text(1000);
        Bytes other(2000);
        other.resize(
            ZSTD_compress2(context.get(), other.data(), other.size(), bytes.data(), bytes.size()));
        left_out(other);
    }
    SECTION("two frames") {
        Bytes other = frame;
        other.insert(other.end(), frame.begin(), frame.end());
        left_out(other);
    }
    SECTION("the file ends in it") {
        Bytes bytes = file_with(frame);
        bytes.resize(headers(bytes)[1].first + sizeof(abi::SectionHeader) + frame.size() / 2);
        const Read read(bytes);
        CHECK(read.cut);
        CHECK(read.all.back() == std::pair(abi::SectionType::text, Bytes{}));
    }
}

TEST_CASE("a packed file has its sections packed, with the same content") {
    const Folder folder;
    const Bytes plain = trace_bytes([](trace::FileWriter& writer) {
        write_info(writer);
        writer.section(abi::SectionType::device_tree, text(5000));
        for (unsigned i = 0; i < 5; ++i) {
            writer.section(trace::modules_section, text(20'000 + i));
            writer.text(fmt::format("short={}\n", i));
        }
        writer.finish(0, abi::Ending::machine_off);
    });
    append(create_output(folder / "t.mmio").get(), plain, "a test's file");
    trace::pack_file(folder / "t.mmio", open_input(folder / "t.mmio").get(),
                     [](std::uint64_t, std::uint64_t) { return true; });
    const Bytes bytes = contents(open_input(folder / "t.mmio").get());
    CHECK(bytes.size() < 4000);
    const Read before(plain), after(bytes);
    CHECK(after.reports.empty());
    REQUIRE(before.all.size() == 13);
    // Except the end, with the place of the index.
    CHECK(std::equal(before.all.begin(), before.all.end() - 1, after.all.begin(),
                     after.all.end() - 1));
}
