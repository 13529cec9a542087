// A RAM image is input: with any content, the search for a trace area must end, and return records
// that the image holds. The same goes for the bytes of a trace file and of a stream, which may
// contain an earlier boot.
//
// The first byte selects. Even: a sound image of two boots, into which the input's words are
// written; with bit 1 its descriptions get new checksums, which random changes would never match.
// Odd: the input itself is the file.
#include "rings/black_box.hpp"
#include "abi/description.hpp"
#include "host-tools/fake_area.hpp"
#include "system/error.hpp"

#include <zlib.h>

#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

namespace {

using namespace mmioscope;
using mmioscope::test::FakeArea;
using mmioscope::test::FakeCpu;

constexpr std::size_t page = 4096;
constexpr std::size_t capacity = 64; ///< of each ring
constexpr std::uint64_t base = 0x8000'0000;

struct alignas(page) Page {
    std::byte bytes[page];
};

std::uint32_t crc(const void* bytes, std::size_t size, std::uint32_t before) {
    return static_cast<std::uint32_t>(::crc32_z(before, static_cast<const Bytef*>(bytes), size));
}

/// Two CPUs with more records than their rings hold, ending with a begin record.
FakeArea area(std::uint64_t at) {
    FakeArea area(2, capacity);
    abi::AreaHeader& header = area.header();
    header.version_minor = abi::version_minor;
    header.area_base = at;
    header.region_count = 1;
    abi::RegionEntry device{};
    device.base = 0x1c09'0000;
    device.size = 0x1000;
    std::memcpy(area.bytes().data() + header.regions_offset, &device, sizeof device);
    FakeCpu cpus[] = {{area, 0}, {area, 1}};
    for (std::uint32_t i = 0; i < 2 * capacity + 20; ++i) {
        cpus[i % 2].publish(test::access(i % 2, i / 2, 100 + i));
    }
    abi::Record begin = test::access(1, capacity + 10, 500);
    begin.type = abi::RecordType::begin;
    cpus[1].publish(begin);
    cpus[1].begun(500);
    cpus[0].begun(501);
    return area;
}

// The header tells the length of the description.
void make_checksum(std::span<std::byte> memory) {
    auto& header = *reinterpret_cast<abi::AreaHeader*>(memory.data());
    const std::uint64_t end =
        header.regions_offset + std::uint64_t{header.region_count} * sizeof(abi::RegionEntry);
    if (end <= memory.size() && header.regions_offset % alignof(abi::RegionEntry) == 0) {
        const auto* regions =
            reinterpret_cast<const abi::RegionEntry*>(memory.data() + header.regions_offset);
        header.description_crc = abi::description_crc(header, regions, crc);
    }
}

/// A page of the guest's, an area, and after its rings what it kept of the previous boot.
std::vector<Page> sound_image() {
    FakeArea current = area(base + page);
    FakeArea before = area(base + page + current.bytes().size());
    abi::AreaHeader& header = current.header();
    header.kept = abi::Kept::kept;
    header.kept_offset = static_cast<std::uint32_t>(current.bytes().size());
    header.kept_size = static_cast<std::uint32_t>(before.bytes().size());
    std::vector<Page> pages(1 + (current.bytes().size() + before.bytes().size()) / page);
    make_checksum(current.bytes());
    make_checksum(before.bytes());
    std::byte* to = pages[1].bytes;
    std::memcpy(to, current.bytes().data(), current.bytes().size());
    std::memcpy(to + current.bytes().size(), before.bytes().data(), before.bytes().size());
    return pages;
}

void expect(bool what) {
    if (!what) {
        std::abort();
    }
}

void look_at(const rings::Area& area) {
    std::uint64_t slots = 0;
    for (const rings::Ring& ring : area.rings()) {
        slots += ring.capacity;
    }
    for (const std::uint64_t count : {std::uint64_t{10}, ~std::uint64_t{0}}) {
        const rings::LastAccesses last = rings::last_accesses(area, count);
        expect(last.records.size() <= count && last.records.size() + last.damaged <= slots);
        expect(last.unfinished.size() <= 2 * area.rings().size());
        for (const abi::Record& record : last.records) {
            expect(record.cpu < area.rings().size());
        }
    }
    (void)area.statistics();
    (void)area.info();
}

void look_through(std::span<std::byte> image) {
    rings::find_area(image, base);
    const std::optional<rings::FoundArea> found = rings::find_area(image, std::nullopt);
    if (!found) {
        return;
    }
    look_at(found->area);
    const std::optional<rings::Area> before =
        rings::previous_boot(found->area, image.subspan(found->offset));
    if (before) {
        look_at(*before);
    }
}

void look_into_a_file(std::span<const std::byte> bytes) try {
    std::optional<rings::RecordedBoot> boot = rings::is_trace_file(bytes)
                                                  ? rings::previous_boot_in_file(bytes)
                                                  : rings::previous_boot_in_stream(bytes);
    const std::optional<rings::Area> area =
        boot ? rings::sound_area(boot->area.bytes()) : std::nullopt;
    if (area) {
        look_at(*area);
    }
} catch (const Error&) {
    // one clear line, as a command prints it
}

/// Seven bytes for each word: the part of the image, the place in it, and the word.
void put_words(std::span<std::byte> image, std::span<const std::uint8_t> words) {
    const auto& header = *reinterpret_cast<const abi::AreaHeader*>(image.data() + page);
    const std::size_t places[] = {page, page + header.regions_offset, page + header.ring_offset[0],
                                  page + header.ring_offset[1], page + header.kept_offset};
    for (; words.size() >= 7; words = words.subspan(7)) {
        const std::size_t at =
            places[words[0] % std::size(places)] + (words[1] | words[2] << 8) * std::size_t{4};
        std::memcpy(image.data() + at % (image.size() - 3), words.data() + 3, 4);
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    const std::span<const std::uint8_t> rest = std::span(data, size).subspan(1);
    if (data[0] % 2 != 0) {
        look_into_a_file(std::as_bytes(rest));
        return 0;
    }
    static const std::vector<Page> sound = sound_image();
    static std::vector<Page> pages;
    pages = sound;
    const std::span<std::byte> image = std::as_writable_bytes(std::span(pages));
    put_words(image, rest);
    if (data[0] & 2) {
        make_checksum(image.subspan(page + (image.size() - page) / 2)); // of the previous boot
        make_checksum(image.subspan(page));
    }
    look_through(image);
    return 0;
}
