#include "file/file_reader.hpp"

#include "file/packer.hpp"
#include "system/crc.hpp"
#include "system/error.hpp"
#include "system/open_source.hpp"
#include "tree/device_tree.hpp"

#include <algorithm>
#include <array>

namespace mmioscope::trace {

namespace {

std::uint64_t padding(std::uint64_t size) {
    return (8 - size % 8) % 8;
}

abi::SectionType plain_type(const abi::SectionHeader& header) {
    return abi::SectionType{static_cast<std::uint32_t>(header.type) & ~abi::section_zstd};
}

// Records have blocks instead, and the end of the file must be found without unpacking. With the
// bit, these types are unknown.
bool is_packed(const abi::SectionHeader& header) {
    const abi::SectionType type = plain_type(header);
    return type != header.type && type != abi::SectionType::records &&
           type != trace::packed_section && type != abi::SectionType::index &&
           type != abi::SectionType::end;
}

} // namespace

abi::End end_of(std::span<const std::byte> payload) {
    abi::End end{};
    std::ranges::copy(payload.first(std::min(payload.size(), sizeof end)),
                      std::as_writable_bytes(std::span(&end, 1)).begin());
    return end;
}

bool is_sound(const abi::SectionHeader& header) {
    return header.magic == abi::section_magic &&
           header.header_crc == crc_before(header, offsetof(abi::SectionHeader, header_crc));
}

FileReader::FileReader(ByteSource& source, Report report)
    : source_(source), report_(std::move(report)) {
    abi::FileHeader header{};
    const std::size_t got = read(&header, sizeof header);
    if (got < sizeof header ||
        !std::equal(std::begin(header.magic), std::end(header.magic), abi::file_magic)) {
        std::vector<std::byte> first(512); // more is read of a file: a pipe may never have it
        std::memcpy(first.data(), &header, got);
        first.resize(got +
                     (source.size() ? source.read(first.data() + got, first.size() - got) : 0));
        throw source.problem().empty()
            ? bad_input("this is not an mmioscope trace file{}", tree::known_or(first, ""))
            : bad_input("{}", source.problem());
    }
    if (header.header_crc != crc_before(header, offsetof(abi::FileHeader, header_crc))) {
        report_("the file header is damaged; reading the sections");
        return;
    }
    if (header.endianness != abi::file_endianness) {
        throw bad_input("the trace was written with another byte order");
    }
    if (header.version_major != abi::file_version_major) {
        throw bad_input("the trace has format version {}.{}, this program reads {}: "
                        "read it with the mmioscope that recorded it",
                        header.version_major, header.version_minor, abi::file_version_major);
    }
    version_ = {header.version_major, header.version_minor};
    skip(std::max<std::uint64_t>(header.header_size, sizeof header) - sizeof header);
}

FileReader::FileReader(ByteSource& source, std::uint64_t offset)
    : source_(source), report_([](const std::string&) {}) {
    seek(offset);
}

std::optional<Section> FileReader::next(const Wanted& wanted) {
    abi::SectionHeader header{};
    while (!over_ && read_header(header)) {
        const SectionPlace place = place_of(header);
        if (wanted && !wanted(place)) {
            skip(place.end - place.payload);
            return section(place.type, {});
        }
        if (header.size > max_payload) {
            report_(fmt::format("section at byte {} has {} bytes: skipped", place.payload,
                                header.size));
            skip(place.end - place.payload);
            continue;
        }
        const std::span<const std::byte> payload = read_payload(header);
        const bool packed = is_packed(header);
        if (payload.size() < header.size) {
            return section(place.type, packed ? std::span<const std::byte>() : payload, true);
        }
        if (crc(payload) == header.crc) {
            if (const auto bytes = packed ? expand(payload) : payload) {
                return section(place.type, *bytes);
            }
        }
        if (header.type == abi::SectionType::records) {
            callers_ = {};
            unread_ += header.size / sizeof(abi::Record);
        } else if (header.type == trace::packed_section) {
            const auto block = trace::block_header(payload);
            unread_ += block ? block->count : 0;
        }
        report_(fmt::format("section at byte {} ({} bytes) is damaged: skipped", place.payload,
                            header.size));
    }
    return std::nullopt;
}

// Callers apply to the next records and no others.
Section FileReader::section(abi::SectionType type, std::span<const std::byte> payload, bool cut) {
    Section section{type, payload, cut};
    if (type == callers_section) {
        callers_ = payload;
        std::swap(memory_, callers_memory_);
    } else if (type == abi::SectionType::records) {
        section.callers = callers_of(std::exchange(callers_, {}), section.records().size());
    } else if (type == packed_section) { // it has its own
        callers_ = {};
    }
    return section;
}

// The payload follows the header. An impossible size becomes one that ends at the last possible
// byte.
SectionPlace FileReader::place_of(const abi::SectionHeader& header) const {
    const std::uint64_t most = UINT64_MAX - offset_ - 8;
    const std::uint64_t size = std::min(header.size, most);
    return {is_packed(header) ? plain_type(header) : header.type, offset_ - sizeof header, offset_,
            size, offset_ + size + padding(size)};
}

bool FileReader::has_more() {
    if (source_.grows()) {
        return false;
    }
    if (const auto size = source_.size()) {
        return offset_ < *size;
    }
    std::byte next{};
    return read(&next, 1) == 1;
}

void FileReader::seek(std::uint64_t offset) {
    ahead_.clear();
    ahead_at_ = 0;
    source_.seek(offset);
    offset_ = offset;
    over_ = false;
    callers_ = {};
}

bool FileReader::read_header(abi::SectionHeader& header) {
    if (read(&header, sizeof header) < sizeof header) {
        return false;
    }
    return is_sound(header) || find_header(header);
}

// The size of a section with a damaged header is unknown: search for the next intact one.
bool FileReader::find_header(abi::SectionHeader& header) {
    const std::uint64_t start = offset_ - sizeof header;
    report_(fmt::format("section header at byte {} is damaged: looking for the next one", start));
    auto* bytes = reinterpret_cast<std::byte*>(&header);
    while (!is_sound(header)) {
        std::memmove(bytes, bytes + 8, sizeof header - 8);
        look_ahead();
        if (read(bytes + sizeof header - 8, 8) < 8) {
            return false;
        }
    }
    return true;
}

// Searches noise eight bytes at a time.
void FileReader::look_ahead() {
    constexpr std::size_t block = 1 << 16;
    if (ahead_at_ == ahead_.size()) {
        ahead_.resize(block);
        ahead_.resize(source_.read_some(ahead_.data(), block));
        ahead_at_ = 0;
    }
}

// As much as the file has.
std::span<const std::byte> FileReader::read_payload(const abi::SectionHeader& header) {
    auto& memory = header.type == abi::SectionType::records ? records_memory_
                   : is_packed(header)                      ? frame_
                                                            : memory_;
    const std::span<std::byte> bytes = memory.room(header.size);
    const std::size_t got = read(bytes.data(), header.size);
    skip(padding(header.size));
    return bytes.first(got);
}

// Nothing if it is not such a frame, or claims more than a payload may have.
std::optional<std::span<const std::byte>> FileReader::expand(std::span<const std::byte> frame) {
    const std::uint64_t size = zstd_size(frame);
    if (size == 0 || size > max_payload) {
        return std::nullopt;
    }
    const std::span<std::byte> bytes = memory_.room(size);
    return expand_zstd(frame, bytes) ? std::optional<std::span<const std::byte>>(bytes)
                                     : std::nullopt;
}

void FileReader::skip(std::uint64_t bytes) {
    std::array<std::byte, 4096> rest;
    if (bytes > rest.size() && source_.size()) {
        seek(offset_ + std::min(bytes, *source_.size() - std::min(offset_, *source_.size())));
        return;
    }
    while (bytes > 0) {
        const std::size_t n = read(rest.data(), std::min<std::uint64_t>(bytes, rest.size()));
        if (n == 0) {
            break;
        }
        bytes -= n;
    }
}

std::size_t FileReader::read(void* to, std::size_t size) {
    const std::size_t known = std::min(size, ahead_.size() - ahead_at_);
    std::copy_n(ahead_.begin() + static_cast<std::ptrdiff_t>(ahead_at_), known,
                static_cast<std::byte*>(to));
    ahead_at_ += known;
    const std::size_t rest = size - known;
    const std::size_t got =
        known + (rest > 0 ? source_.read(static_cast<std::byte*>(to) + known, rest) : 0);
    offset_ += got;
    if (got < size) {
        over_ = true;
        report_problem();
    }
    return got;
}

void FileReader::report_problem() {
    const std::string problem = problem_reported_ || offset_ < sizeof(abi::FileHeader)
                                    ? std::string() // in the first header it is an error
                                    : source_.problem();
    if (!problem.empty()) {
        problem_reported_ = true;
        report_(problem);
    }
}

} // namespace mmioscope::trace
