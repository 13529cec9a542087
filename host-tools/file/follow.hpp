// Reads a trace file while it is being written. The file itself is the queue between recorder and
// printer, so a stopped terminal stops the printer and never the recorder.
#pragma once

#include "system/byte_source.hpp"
#include "system/file_descriptor.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>

namespace mmioscope::trace {

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

} // namespace mmioscope::trace
