// The last accesses, from a RAM image that may contain anything.
#include "abi/description.hpp"
#include "catch_2_or_3.hpp"
#include "fake_area.hpp"
#include "rings/black_box.hpp"
#include "system/error.hpp"
#include "system/file_descriptor.hpp"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <random>

using namespace mmioscope;
using namespace mmioscope::test;

namespace {

constexpr std::uint64_t base = 0x8000'0000;
constexpr std::uint64_t offset = 0x5000;

struct alignas(4096) Page {
    std::byte bytes[4096];
};

/// RAM that contains an area of two CPUs with `count` accesses each, in turn.
class Ram {
public:
    explicit Ram(std::uint32_t count) : area_(2, 64) {
        area_.header().area_base = base + offset;
        area_.header().region_count = 1;
        area_.header().version_minor = abi::version_minor;
        regions() = region(0x1c09'0000, 0x1000, "/serial@90000");
        FakeCpu cpus[] = {{area_, 0}, {area_, 1}};
        for (std::uint32_t i = 0; i < 2 * count; ++i) {
            cpus[i % 2].publish(access(i % 2, i / 2, 100 + i));
        }
    }

    FakeArea& area() { return area_; }
    abi::RegionEntry& regions() {
        return *reinterpret_cast<abi::RegionEntry*>(area_.bytes().data() +
                                                    area_.header().regions_offset);
    }

    /// With the right checksum, or a wrong one.
    std::span<std::byte> image(bool right = true) {
        area_.header().description_crc =
            abi::description_crc(area_.header(), &regions(),
                                 [](const void* bytes, std::size_t size, std::uint32_t before) {
                                     return static_cast<std::uint32_t>(
                                         ::crc32_z(before, static_cast<const Bytef*>(bytes), size));
                                 }) ^
            (right ? 0u : 1u);
        pages_.assign((offset + area_.bytes().size()) / sizeof(Page) + 2, {});
        const std::span<std::byte> all = std::as_writable_bytes(std::span(pages_));
        std::copy(area_.bytes().begin(), area_.bytes().end(), all.begin() + offset);
        return all;
    }

private:
    FakeArea area_;
    std::vector<Page> pages_;
};

} // namespace

TEST_CASE(
    "an area is found at the address that it states, if its description has the right checksum") {
    Ram ram(5);
    const auto found = rings::find_area(ram.image(), base);
    REQUIRE(found);
    CHECK(found->offset == offset);
    CHECK(rings::find_area(ram.image(), std::nullopt));
    CHECK(!rings::find_area(ram.image(), base + 0x1000));
    CHECK(!rings::find_area(ram.image(false), base));
    --ram.area().header().version_major;
    CHECK_THROWS_WITH(rings::find_area(ram.image(), base),
                      Catch::Contains("this program reads version"));
    ++ram.area().header().version_major;
    CHECK(!rings::find_area(ram.image().first(offset + 100), base));
    const std::span<std::byte> image = ram.image();
    image[offset + ram.area().header().regions_offset] ^= std::byte{1}; // a region's address
    CHECK(!rings::find_area(image, base));
}

TEST_CASE("the last accesses are the newest of all CPUs, in time order") {
    Ram ram(100); // more than a ring has
    const auto found = rings::find_area(ram.image(), base);
    REQUIRE(found);
    const rings::LastAccesses last = rings::last_accesses(found->area, 10);
    REQUIRE(last.records.size() == 10);
    for (unsigned i = 0; i < 10; ++i) {
        CHECK(last.records[i].time == 100 + 190 + i);
    }
    CHECK(last.damaged == 0);
    CHECK(last.unfinished.empty());
    CHECK(rings::last_accesses(found->area, UINT64_MAX).records.size() == 2 * 64);
}

TEST_CASE("incomplete records are left out and counted") {
    Ram ram(20);
    ram.area().records(0)[19].commit = 0;
    ram.area().records(1)[10].commit += 1;
    const auto found = rings::find_area(ram.image(), base);
    REQUIRE(found);
    const rings::LastAccesses last = rings::last_accesses(found->area, 64);
    CHECK(last.records.size() == 38);
    CHECK(last.damaged == 2);
}

TEST_CASE("the access in flight is described by its begin record, or else by the slot") {
    Ram ram(3);
    SECTION("a begin record") {
        FakeCpu cpu(ram.area(), 1);
        abi::Record begin = access(1, 3, 500);
        begin.type = abi::RecordType::begin;
        cpu.publish(begin);
        cpu.begun(500);
        const auto found = rings::find_area(ram.image(), base);
        const rings::LastAccesses last = rings::last_accesses(found->area, 64);
        REQUIRE(last.unfinished.size() == 1);
        CHECK(last.unfinished[0].described);
        CHECK(last.unfinished[0].record.pc == begin.pc);
        CHECK(last.records.size() == 6);
    }
    SECTION("the slot") {
        ram.area().ring(0).in_flight_pa = 0x1c09'0018;
        ram.area().ring(0).in_flight_pc = 0xc0de;
        FakeCpu(ram.area(), 0).begun(500);
        const auto found = rings::find_area(ram.image(), base);
        const rings::LastAccesses last = rings::last_accesses(found->area, 64);
        REQUIRE(last.unfinished.size() == 1);
        CHECK(!last.unfinished[0].described);
        CHECK(last.unfinished[0].record.device == 0);
        CHECK(last.unfinished[0].record.pc == 0xc0de);
    }
    SECTION("the slot of an access whose record is there") {
        FakeCpu(ram.area(), 0).begun(104);
        const auto found = rings::find_area(ram.image(), base);
        CHECK(rings::last_accesses(found->area, 64).unfinished.empty());
    }
}

TEST_CASE("an area's wrong place of a previous boot is not believed") {
    Ram ram(3);
    abi::AreaHeader& header = ram.area().header();
    header.kept = abi::Kept::kept;
    header.kept_offset = GENERATE(0u, 1u, 4096u, 0xffff'f000u);
    header.kept_size = GENERATE(0u, 100u, 0x10'0000u, 0xffff'ffffu);
    const std::span<std::byte> image = ram.image();
    const auto found = rings::find_area(image, base);
    REQUIRE(found);
    CHECK(!rings::previous_boot(found->area, image.subspan(offset)));
}

TEST_CASE("changed bytes of an image cause no crash and give only whole records") {
    Ram ram(20);
    const std::span<std::byte> image = ram.image();
    const std::vector<std::byte> right(image.begin(), image.end());
    std::mt19937 random(1);
    for (int round = 0; round < 2000; ++round) {
        std::copy(right.begin(), right.end(), image.begin());
        for (int n = 0; n < 4; ++n) {
            const std::size_t reach = random() % 2 == 0 ? 256 : image.size() - offset;
            image[offset + random() % reach] = static_cast<std::byte>(random());
        }
        std::optional<rings::FoundArea> found;
        try {
            found = rings::find_area(image, base);
        } catch (const Error&) { // the version, among others
        }
        if (found) {
            const rings::LastAccesses last = rings::last_accesses(found->area, 1000);
            CHECK(last.records.size() + last.damaged + last.unfinished.size() <= 130);
            rings::previous_boot(found->area, image.subspan(found->offset));
        }
    }
}

TEST_CASE("a file that is not a RAM image is refused") {
    CHECK_THROWS_AS(rings::RamImage("/nonexistent"), Error);
    CHECK_THROWS_AS(rings::RamImage("/dev/null"), Error);
}

TEST_CASE("a compressed image reads as the image itself") {
    Ram ram(20);
    const std::span<std::byte> image = ram.image();
    std::vector<std::byte> packed(ZSTD_compressBound(image.size()));
    packed.resize(ZSTD_compress(packed.data(), packed.size(), image.data(), image.size(), 1));
    const auto read = [](const std::vector<std::byte>& bytes) {
        const FileDescriptor file = memory_file("image", 0);
        append(file.get(), bytes, "a test's file");
        const rings::RamImage all(fmt::format("/proc/self/fd/{}", file.get()));
        return std::vector(all.bytes().begin(), all.bytes().end());
    };
    CHECK(std::ranges::equal(read(packed), image));
    std::fill(packed.begin() + 4, packed.end(), std::byte{0xff});
    CHECK_THROWS_WITH(read(packed), Catch::Contains("compressed data is damaged"));
    // The guest has zstd's magic, and a skippable frame's, in the first bytes of its RAM.
    for (const std::uint32_t magic : {0xfd2f'b528u, 0x184d'2a50u}) {
        std::memcpy(image.data(), &magic, sizeof magic);
        CHECK(std::ranges::equal(read({image.begin(), image.end()}), image));
    }
}
