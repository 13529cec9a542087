#include "file/file_writer.hpp"

#include "file/block.hpp"
#include "file/file_reader.hpp"
#include "records/groups.hpp"
#include "system/error.hpp"
#include "system/open_source.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace mmioscope::trace {

void WriteProgress::advance(std::uint64_t written) {
    const std::lock_guard lock(mutex_);
    written_ = written;
    changed_.notify_all();
}

void WriteProgress::finish() {
    const std::lock_guard lock(mutex_);
    finished_ = true;
    changed_.notify_all();
}

std::uint64_t WriteProgress::wait_beyond(std::uint64_t offset, std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, patience, [&] { return finished_ || written_ > offset; });
    return written_;
}

bool WriteProgress::finished() const {
    const std::lock_guard lock(mutex_);
    return finished_;
}

std::size_t FollowSource::available(std::size_t wanted) {
    using namespace std::chrono_literals;
    for (;;) {
        const bool finished = progress_.finished(); // before the count: it cannot grow after
        const std::uint64_t written = progress_.wait_beyond(offset_ + wanted - 1, 100ms);
        if (finished || written >= offset_ + wanted) {
            return static_cast<std::size_t>(std::min<std::uint64_t>(wanted, written - offset_));
        }
        idle_();
    }
}

std::size_t FollowSource::read(void* to, std::size_t size) {
    const std::size_t n = size == 0 ? 0 : available(size);
    std::size_t done = 0;
    while (done < n) {
        const ssize_t got = ::pread(fd_, static_cast<char*>(to) + done, n - done,
                                    static_cast<off_t>(offset_ + done));
        if (got == 0) {
            throw failure("reading the trace back failed: it is shorter than what was written");
        }
        if (got < 0 && errno != EINTR) {
            throw failure("reading the trace back failed: {}", std::strerror(errno));
        }
        done += got > 0 ? static_cast<std::size_t>(got) : 0;
    }
    offset_ += done;
    return done;
}

namespace {
constexpr std::size_t records_per_section = abi::max_records_payload / sizeof(abi::Record);
}

FileWriter::FileWriter(int fd, WriteProgress& progress, std::string name)
    : fd_(fd), progress_(progress), name_(std::move(name)) {
    abi::FileHeader header{};
    std::copy(std::begin(abi::file_magic), std::end(abi::file_magic), header.magic);
    header.endianness = abi::file_endianness;
    header.version_major = abi::file_version_major;
    header.version_minor = abi::file_version_minor;
    header.header_size = sizeof header;
    header.header_crc = crc_before(header, offsetof(abi::FileHeader, header_crc));
    put(&header, sizeof header);
    pending_.reserve(records_per_section);
}

void FileWriter::section(abi::SectionType type, std::span<const std::byte> payload) {
    index_.add(type, written_.size, {});
    write_section(type, payload);
}

void FileWriter::section_packed(abi::SectionType type, std::span<const std::byte> payload) {
    const std::optional<std::vector<std::byte>> frame = zstd_frame(payload);
    if (std::vector<std::byte> back(payload.size());
        frame && (!expand_zstd(*frame, back) || !std::ranges::equal(back, payload))) {
        throw failure(
            "cannot write the trace: a compressed section does not decompress to its content");
    }
    index_.add(type, written_.size, {});
    write_section(type, frame ? *frame : payload, frame ? abi::section_zstd : 0);
}

void FileWriter::write_section(abi::SectionType type, std::span<const std::byte> payload,
                               std::uint32_t flags) {
    if (payload.size() > max_payload) {
        throw failure("cannot write the trace: {} bytes in one section, more than readers take",
                      payload.size());
    }
    abi::SectionHeader header{abi::section_magic,
                              abi::SectionType{static_cast<std::uint32_t>(type) | flags},
                              payload.size(), crc(payload), 0};
    header.header_crc = crc_before(header, offsetof(abi::SectionHeader, header_crc));
    put(&header, sizeof header);
    put(payload.data(), payload.size());
    constexpr std::uint64_t zero = 0;
    put(&zero, (8 - payload.size() % 8) % 8);
    progress_.advance(written_.size);
}

void FileWriter::text(std::string_view lines) {
    values(abi::SectionType::text, std::span(lines.data(), lines.size()));
}

void FileWriter::append(std::span<const abi::Record> records, std::span<const Caller> callers) {
    while (!records.empty()) {
        const std::size_t n = std::min(records.size(), room());
        pending_.insert(pending_.end(), records.begin(),
                        records.begin() + static_cast<std::ptrdiff_t>(n));
        records = records.subspan(n);
        if (!callers.empty()) {
            write_callers(std::span(pending_).last(n), callers.first(n));
            callers = callers.subspan(n);
        }
        write_full();
    }
}

std::size_t FileWriter::room() const {
    return records_per_section - waiting().size();
}

void FileWriter::write_callers(std::span<const abi::Record> records,
                               std::span<const Caller> callers) {
    callers_.resize(static_cast<std::size_t>(records.data() - waiting().data()), lr_holds);
    callers_.insert(callers_.end(), callers.begin(), callers.end());
}

void FileWriter::flush() {
    // What was looked at (seen()) is of one section.
    write_records(std::max(whole_groups(waiting()), static_cast<std::size_t>(seen_.records)));
}

std::span<abi::Record> FileWriter::next_section() {
    const auto all = std::span(pending_).subspan(written_records_);
    return all.size() < records_per_section
               ? all
               : all.first(whole_groups(all.first(records_per_section)));
}

bool FileWriter::write_full() {
    if (waiting().size() < records_per_section) {
        return false;
    }
    write_records(next_section().size());
    return true;
}

// Writes the first `count` pending records. Callers of others stay: they are looked for by section.
void FileWriter::write_records(std::size_t count) {
    if (count == 0) {
        return;
    }
    if (!callers_.empty()) {
        callers_.resize(std::max(count, callers_.size()), lr_holds);
        values(callers_section, std::span<const Caller>(callers_).first(count));
        callers_.erase(callers_.begin(), callers_.begin() + static_cast<std::ptrdiff_t>(count));
    }
    const std::span<const abi::Record> records = waiting().first(count);
    seen_.add(records.subspan(static_cast<std::size_t>(seen_.records)));
    index_.add(abi::SectionType::records, written_.size, seen_);
    write_section(abi::SectionType::records, std::as_bytes(records));
    records_ += count;
    seen_ = {};
    written_records_ += count;
    if (waiting().empty()) {
        pending_.clear();
        written_records_ = 0;
    }
}

// Not after each section: after a long stall a million records wait.
std::vector<abi::Record>& FileWriter::pending() {
    // In pieces so short that memmove() uses its fast path (rings/area.cpp).
    auto to = pending_.begin();
    for (auto rest = waiting(); written_records_ > 0 && !rest.empty();) {
        const auto piece = rest.first(std::min<std::size_t>(rest.size(), 60));
        to = std::ranges::copy(piece, to).out;
        rest = rest.subspan(piece.size());
    }
    if (written_records_ > 0) {
        pending_.erase(to, pending_.end());
        written_records_ = 0;
    }
    return pending_;
}

void FileWriter::packed(std::span<const std::byte> block, const Extent& records) {
    flush();
    index_.add(trace::packed_section, written_.size, records);
    write_section(trace::packed_section, block);
    records_ += records.records;
}

void FileWriter::finish(std::uint64_t lost, abi::Ending ending) {
    write_records(waiting().size());
    const abi::End end{records_, lost, ending, 0, written_.size};
    write_section(abi::SectionType::index, index_payload(index_.entries(), written_.size));
    write_section(abi::SectionType::end, std::as_bytes(std::span(&end, 1)));
}

void FileWriter::put(const void* bytes, std::size_t size) {
    std::size_t done = 0;
    while (done < size) {
        const ssize_t put = ::write(fd_, static_cast<const char*>(bytes) + done, size - done);
        if (put < 0 && errno != EINTR) {
            throw failure("cannot write {}: {}", name_, std::strerror(errno));
        }
        done += put > 0 ? static_cast<std::size_t>(put) : 0;
    }
    written_.size += size;
    written_.crc.add({static_cast<const std::byte*>(bytes), size});
}

} // namespace mmioscope::trace
