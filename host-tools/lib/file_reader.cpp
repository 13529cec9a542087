#include "lib/file_reader.hpp"

#include "lib/crc.hpp"
#include "lib/error.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace mmioscope::trace {

namespace {

/// A larger payload is skipped unread: memory stays bounded whatever a file says.
constexpr std::uint64_t max_payload = 16u << 20;

bool sound(const abi::SectionHeader& header) {
    return header.magic == abi::section_magic &&
           header.header_crc == crc_before(header, offsetof(abi::SectionHeader, header_crc));
}

std::uint64_t padding(std::uint64_t size) {
    return (8 - size % 8) % 8;
}

} // namespace

FileReader::FileReader(ByteSource& source, Report report)
    : source_(source), report_(std::move(report)) {
    abi::FileHeader header{};
    const std::size_t got = take(&header, sizeof header);
    if (got < sizeof header ||
        !std::equal(std::begin(header.magic), std::end(header.magic), abi::file_magic)) {
        throw bad_input("this is not an mmioscope trace file");
    }
    if (header.header_crc != crc_before(header, offsetof(abi::FileHeader, header_crc))) {
        report_("the file header is damaged; going on with the sections");
        return;
    }
    if (header.endianness != abi::file_endianness) {
        throw bad_input("the trace was written with another byte order");
    }
    if (header.version_major > abi::version_major) {
        throw bad_input("the trace has format version {}.{}; this program reads up to {}",
                        header.version_major, header.version_minor, abi::version_major);
    }
    skip(std::max<std::uint64_t>(header.header_size, sizeof header) - sizeof header);
}

std::optional<Section> FileReader::next() {
    abi::SectionHeader header{};
    while (read_header(header)) {
        const std::uint64_t start = offset_;
        if (header.size > max_payload) {
            report_(fmt::format("section at byte {} has {} bytes: skipped", start, header.size));
            skip(header.size + padding(header.size));
            continue;
        }
        if (!read_payload(header)) {
            return Section{header.type, payload_, true};
        }
        if (crc(payload_) == header.crc) {
            return Section{header.type, payload_, false};
        }
        report_(
            fmt::format("section at byte {} ({} bytes) is damaged: skipped", start, header.size));
    }
    return std::nullopt;
}

bool FileReader::read_header(abi::SectionHeader& header) {
    if (take(&header, sizeof header) < sizeof header) {
        return false;
    }
    return sound(header) || find_header(header);
}

// The size of a section with a damaged header is unknown: look for the next sound one.
bool FileReader::find_header(abi::SectionHeader& header) {
    const std::uint64_t start = offset_ - sizeof header;
    report_(fmt::format("section header at byte {} is damaged: looking for the next", start));
    auto* bytes = reinterpret_cast<std::byte*>(&header);
    while (!sound(header)) {
        std::memmove(bytes, bytes + 8, sizeof header - 8);
        if (take(bytes + sizeof header - 8, 8) < 8) {
            return false;
        }
    }
    return true;
}

// False if the file ended first; the payload then holds what there was.
bool FileReader::read_payload(const abi::SectionHeader& header) {
    payload_.resize(header.size);
    payload_.resize(take(payload_.data(), header.size));
    skip(padding(header.size));
    return payload_.size() == header.size;
}

std::uint64_t FileReader::skip(std::uint64_t bytes) {
    std::array<std::byte, 4096> rest;
    std::uint64_t done = 0;
    while (done < bytes) {
        const std::size_t n = take(rest.data(), std::min<std::uint64_t>(bytes - done, rest.size()));
        if (n == 0) {
            break;
        }
        done += n;
    }
    return done;
}

std::size_t FileReader::take(void* to, std::size_t size) {
    const std::size_t got = source_.read(to, size);
    offset_ += got;
    return got;
}

} // namespace mmioscope::trace
