// Writes a trace file (abi/container.hpp) section by section.
#pragma once

#include "abi/container.hpp"
#include "file/index.hpp"
#include "records/callers.hpp"
#include "system/byte_source.hpp"
#include "system/crc.hpp"
#include "system/file_descriptor.hpp"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mmioscope::trace {

// Reads a trace file while it is being written. The file itself is the queue between recorder and
// printer, so a stopped terminal stops the printer and never the recorder.

/// How far a file is written; shared by one writer and any number of followers.
class WriteProgress {
public:
    /// The first `written` bytes of the file are complete.
    void advance(std::uint64_t written);
    /// Nothing more will be written.
    void finish();
    /// Waits at most `patience` for more than `offset` bytes. Returns the bytes written so far.
    std::uint64_t wait_beyond(std::uint64_t offset, std::chrono::milliseconds patience);
    bool finished() const;

private:
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::uint64_t written_ = 0;
    bool finished_ = false;
};

/// A file and its writer's progress, kept open while it is followed.
struct FollowedFile {
    explicit FollowedFile(FileDescriptor opened) : file(std::move(opened)) {}
    FileDescriptor file;
    WriteProgress written;
};

/// Reads as far as WriteProgress allows, and waits for more.
class FollowSource : public ByteSource {
public:
    /// Calls `idle` each time no new bytes came for a moment.
    FollowSource(int fd, WriteProgress& progress, std::function<void()> idle)
        : fd_(fd), progress_(progress), idle_(std::move(idle)) {}
    std::size_t read(void* to, std::size_t size) override;
    bool grows() const override { return true; }

private:
    std::size_t available(std::size_t wanted);

    int fd_;
    WriteProgress& progress_;
    std::function<void()> idle_;
    std::uint64_t offset_ = 0;
};

/// All bytes that were written, so that they can be recognized when they are read back.
struct Written {
    std::uint64_t size = 0;
    RunningCrc crc;
};

class FileWriter {
public:
    /// Writes the file header to `fd`, which belongs to the caller and must be empty. Tells
    /// `progress` after each section. All functions throw Error with `name` if writing fails.
    FileWriter(int fd, WriteProgress& progress, std::string name = "the trace");

    void section(abi::SectionType type, std::span<const std::byte> payload);
    /// Writes the section compressed if that is smaller.
    void section_packed(abi::SectionType type, std::span<const std::byte> payload);
    void text(std::string_view lines);

    template <typename T>
    void values(abi::SectionType type, std::span<const T> payload) {
        section(type, std::as_bytes(payload));
    }

    /// Takes `records`. They are written when there are enough, or by flush(). `callers`: one for
    /// each record, or none. A section does not end in a group (abi/payload.hpp).
    void append(std::span<const abi::Record> records, std::span<const Caller> callers = {});
    /// How many more records fit into the current section.
    std::size_t room() const;
    /// Writes them. A group that goes on waits for its rest, and for finish().
    void flush();

    /// Records to write, for callers that append to them directly instead of copying with append().
    /// After that, call write_full() until it returns false.
    std::vector<abi::Record>& pending();
    /// The records of pending() that belong to the next section.
    std::span<abi::Record> next_section();
    /// One caller for each of `records`. They are part of next_section(), and follow those of the
    /// previous call.
    void write_callers(std::span<const abi::Record> records, std::span<const Caller> callers);
    /// Saves a pass over these records if the caller looks at them anyway, in order.
    void seen(const Run& run) { seen_.add(run); }
    /// Writes the next section if it is full; returns false if it is not.
    bool write_full();

    /// Writes a section of `records`, already packed (file/block.hpp).
    void packed(std::span<const std::byte> block, const Extent& records);

    /// Size of the file in bytes if it were flushed now.
    std::uint64_t size() const {
        return written_.size + waiting().size() * sizeof(abi::Record) +
               index_.entries().size_bytes();
    }

    /// Completes the file with the index and the last section.
    void finish(std::uint64_t lost, abi::Ending ending);
    /// The file so far.
    const Written& written() const { return written_; }

private:
    std::span<const abi::Record> waiting() const {
        return std::span(pending_).subspan(written_records_);
    }
    void write_records(std::size_t count);
    void write_section(abi::SectionType type, std::span<const std::byte> payload,
                       std::uint32_t flags = 0);
    void put(const void* bytes, std::size_t size);

    int fd_;
    WriteProgress& progress_;
    std::string name_;
    Written written_;
    std::uint64_t records_ = 0;
    std::vector<abi::Record> pending_;
    std::size_t written_records_ = 0; ///< at the start of pending_; the others wait
    Extent seen_;                     ///< of the first records that wait
    std::vector<Caller> callers_;     ///< of these
    IndexBuilder index_;
};

} // namespace mmioscope::trace
