#include "rings/black_box.hpp"

#include "file/file_reader.hpp"
#include "file/file_writer.hpp"
#include "records/groups.hpp"
#include "records/returns.hpp"
#include "rings/merge.hpp"
#include "system/crc.hpp"
#include "system/error.hpp"
#include "system/open_source.hpp"
#include "tree/device_tree.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace mmioscope::rings {

namespace {

constexpr std::uint64_t page = 4096;

// Areas before version 1.1 have no checksum.
bool has_its_checksum(const rings::Area& area) {
    const abi::AreaHeader& header = area.header();
    if (header.header_size < offsetof(abi::AreaHeader, kept)) {
        return true;
    }
    return description_crc(header, area.regions().data()) == header.description_crc;
}

std::uint16_t device_at(const rings::Area& area, std::uint64_t pa) {
    std::uint16_t found = abi::no_device;
    std::uint64_t smallest = UINT64_MAX; // the innermost, as in the hypervisor's map
    for (std::size_t i = 0; i < area.regions().size(); ++i) {
        const abi::RegionEntry& region = area.regions()[i];
        if (pa >= region.base && pa - region.base < region.size && region.size <= smallest) {
            found = static_cast<std::uint16_t>(i);
            smallest = region.size;
        }
    }
    return found;
}

// The last records of one ring, at most `count`, oldest first. When it stopped, its CPU may have
// been about to replace the first ones by a group (abi/payload.hpp): those are not damaged.
std::vector<abi::Record> end_of(const rings::Ring& ring, std::uint64_t count,
                                std::uint64_t& damaged) {
    const std::uint64_t head = abi::position_of(*ring.header);
    std::vector<abi::Record> records;
    for (std::uint64_t at = head - std::min({head, ring.capacity, count}); at != head; ++at) {
        const abi::Record record = ring.records[at % ring.capacity];
        const bool replaced =
            records.empty() &&
            record.commit == abi::commit_word(ring.boot_number, at + ring.capacity);
        if (record.commit == abi::commit_word(ring.boot_number, at)) {
            records.push_back(record);
        } else if (!replaced) {
            ++damaged;
        }
    }
    return records;
}

// What the in-flight slot says, if no record says it.
std::optional<Unfinished> in_flight(const rings::Area& area, unsigned cpu,
                                    const std::vector<abi::Record>& records) {
    const rings::InFlightAccess access = rings::in_flight(area.rings()[cpu]);
    const bool published = !records.empty() && records.back().time >= access.time;
    if (!abi::has_begun(access.state) || published) {
        return std::nullopt;
    }
    Unfinished found{{}, false};
    found.record.type = abi::RecordType::begin;
    found.record.cpu = static_cast<std::uint8_t>(cpu);
    found.record.time = access.time;
    found.record.pc = access.pc;
    abi::set_physical_address(found.record, access.pa);
    found.record.device = device_at(area, access.pa);
    return found;
}

} // namespace

std::optional<rings::Area> sound_area(std::span<std::byte> memory) {
    if (!rings::Area::ready(memory)) {
        return std::nullopt;
    }
    try {
        rings::Area area(memory);
        return has_its_checksum(area) ? std::optional(std::move(area)) : std::nullopt;
    } catch (const Error&) {
        return std::nullopt; // only looks like one
    }
}

std::optional<FoundArea> find_area(std::span<std::byte> image, std::optional<std::uint64_t> base,
                                   const Passed& passed) {
    std::span<std::byte> other; // an area of another version
    for (std::uint64_t at = 0; at + abi::area_head_size <= image.size(); at += page) {
        passed(page);
        std::uint64_t magic = 0;
        std::memcpy(&magic, image.data() + at, sizeof magic);
        if (magic != abi::area_magic) {
            continue;
        }
        std::uint16_t version = 0;
        std::memcpy(&version, image.data() + at + offsetof(abi::AreaHeader, version_major),
                    sizeof version);
        if (version != abi::version_major) {
            other = image.subspan(at);
        }
        std::optional<rings::Area> area = sound_area(image.subspan(at));
        if (area && (!base || area->header().area_base == *base + at)) {
            return FoundArea{at, std::move(*area)};
        }
    }
    if (!other.empty()) {
        rings::Area{other}; // throws: says which version
    }
    return std::nullopt;
}

std::span<const std::byte> tree_of(const FoundArea& found, std::span<std::byte> image) {
    const abi::AreaHeader& header = found.area.header();
    const std::uint64_t offset = header.tree_base - (header.area_base - found.offset);
    if (offset > image.size() || header.tree_size > image.size() - offset) {
        return {};
    }
    const std::span<const std::byte> tree = image.subspan(offset, header.tree_size);
    return tree::tree_is_sound(tree) ? tree : std::span<const std::byte>();
}

std::optional<rings::Area> previous_boot(const rings::Area& area, std::span<std::byte> memory) {
    const abi::AreaHeader& header = area.header();
    const bool inside = header.kept_offset % page == 0 && header.kept_offset >= page &&
                        header.kept_offset <= memory.size() &&
                        header.kept_size <= memory.size() - header.kept_offset;
    if (header.kept != abi::Kept::kept || !inside) {
        return std::nullopt;
    }
    return sound_area(memory.subspan(header.kept_offset, header.kept_size));
}

LastAccesses last_accesses(const rings::Area& area, std::uint64_t count) {
    LastAccesses last;
    rings::Merge merge(area.header().cpu_count);
    trace::OpenAccesses open;
    for (unsigned cpu = 0; cpu < area.rings().size(); ++cpu) {
        // In `pre` mode every other record is a begin record.
        std::vector<abi::Record> records =
            end_of(area.rings()[cpu], 2 * std::min(count, UINT64_MAX / 4), last.damaged);
        for (abi::Record& record : records) {
            record.cpu = static_cast<std::uint8_t>(cpu);
            open.add(record);
        }
        if (const std::optional<Unfinished> found = in_flight(area, cpu, records)) {
            last.unfinished.push_back(*found);
        }
        merge.push(cpu, std::move(records));
    }
    for (const abi::Record& begin : open.open()) {
        last.unfinished.push_back({begin, true});
    }
    merge.flush(last.records);
    std::erase_if(last.records,
                  [](const abi::Record& r) { return r.type == abi::RecordType::begin; });
    const std::uint64_t surplus = last.records.size() - std::min(last.records.size(), count);
    last.records.erase(last.records.begin(),
                       last.records.begin() + static_cast<std::ptrdiff_t>(surplus));
    trace::Groups groups;
    for (const abi::Record& record : last.records) {
        last.broken += groups.add(record, std::nullopt).broken;
    }
    last.broken += groups.unended();
    return last;
}

namespace {

constexpr std::uint64_t most_physical = std::uint64_t{16} << 30; ///< more than ARMv7 boards have

} // namespace

FileDescriptor RamImage::open(const std::string& path, const Passed& passed) {
    struct stat status {};
    if (path != "-" && ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
        status.st_size > 0) {
        FileDescriptor file = open_input(path);
        const RamImage image(file, path);
        if (!is_compressed(image.bytes()) || find_area(image.bytes(), std::nullopt)) {
            return file;
        }
    }
    return open_or_spool(path, most_physical, passed);
}

RamImage::RamImage(const std::string& path, const Passed& passed)
    : RamImage(open(path, passed), path) {}

RamImage::RamImage(const FileDescriptor& file, const std::string& path) {
    struct stat status {};
    if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
        throw bad_input("{}: is not a regular file, so it cannot be mapped", path);
    }
    if (status.st_size == 0) {
        throw bad_input("{}: is empty", path);
    }
    const auto size = static_cast<std::size_t>(status.st_size);
    void* bytes =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file.get(), 0);
    if (bytes == MAP_FAILED) {
        throw bad_input("{}: cannot be mapped: {}", path, std::strerror(errno));
    }
    bytes_ = {static_cast<std::byte*>(bytes), size};
}

RamImage::~RamImage() {
    ::munmap(bytes_.data(), bytes_.size());
}

namespace {

struct LastOne : wire::WireSink {
    std::vector<std::byte> tree;
    std::optional<RecordedBoot> found;

    void hello(const wire::StreamHead& head) override { tree = wire::alias_tree(head); }
    void previous_boot(std::span<const std::byte> area) override {
        found = RecordedBoot{wire::AreaImage(area), tree};
    }
    void records(std::span<const abi::Record>) override {}
    void end(const abi::EndHeader&, std::span<const abi::Statistics>) override {}
};

} // namespace

bool is_trace_file(std::span<const std::byte> bytes) {
    return bytes.size() >= sizeof abi::file_magic &&
           std::memcmp(bytes.data(), abi::file_magic, sizeof abi::file_magic) == 0;
}

std::optional<RecordedBoot> previous_boot_in_file(std::span<const std::byte> bytes) {
    MemorySource source(bytes);
    trace::FileReader reader(source, [](const std::string&) {});
    std::vector<std::byte> tree;
    std::optional<RecordedBoot> found;
    while (const std::optional<trace::Section> section = reader.next()) {
        if (section->type == abi::SectionType::device_tree) {
            tree.assign(section->payload.begin(), section->payload.end());
        } else if (section->type == abi::SectionType::previous_boot && !section->cut) {
            found = RecordedBoot{wire::AreaImage(section->payload), tree};
        }
    }
    return found;
}

std::optional<RecordedBoot> previous_boot_in_stream(std::span<const std::byte> bytes,
                                                    const Passed& passed) {
    LastOne last;
    wire::WireDecoder decoder(last);
    while (!bytes.empty()) {
        const auto piece = bytes.first(std::min<std::size_t>(bytes.size(), 1 << 20));
        decoder.feed(piece);
        passed(piece.size());
        bytes = bytes.subspan(piece.size());
    }
    return std::move(last.found);
}

FileDescriptor as_trace(const rings::Area& area, std::span<const std::byte> tree,
                        std::span<const abi::Record> records) {
    FileDescriptor file = memory_file("records", 0);
    trace::WriteProgress progress;
    trace::FileWriter writer(file.get(), progress);
    const abi::Info info = area.info();
    writer.values(abi::SectionType::info, std::span(&info, 1));
    writer.section(abi::SectionType::device_tree, tree);
    writer.values(abi::SectionType::regions, std::span<const abi::RegionEntry>(area.regions()));
    writer.append(trace::Returns().completed(records));
    writer.finish(0, abi::Ending::machine_off);
    ::lseek(file.get(), 0, SEEK_SET);
    return file;
}

} // namespace mmioscope::rings
