// Reads finished trace files back, and packs them, one after the other in the background.
#pragma once

#include "file/read_back.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace mmioscope::trace {

class Packing {
public:
    /// Files are only read back unless `wanted`.
    explicit Packing(bool wanted) : wanted_(wanted) {}
    /// Gives up on the files not yet packed.
    ~Packing();
    Packing(const Packing&) = delete;
    Packing& operator=(const Packing&) = delete;

    /// The file is finished: nobody writes to it or will open it to follow it. If it cannot be
    /// packed, it stays as it is, and a line is printed on standard error.
    void add(FinishedFile file);

    /// The first damage in files that were read back since the last call, as part of a sentence;
    /// empty if there is none. Waits at most `patience` for all files to be read back: what is
    /// found later, the next call returns.
    std::string take_damage(std::chrono::milliseconds patience);

    /// Waits for all files, with a progress line on a terminal. Ctrl-C leaves the rest unpacked.
    /// Returns the first damage like take_damage().
    std::string finish(bool shows_progress);

private:
    void run();
    void close();
    void read(const FinishedFile& file);
    void pack(const FinishedFile& file);
    void damaged(const std::string& why);

    bool wanted_;
    std::atomic<bool> given_up_ = false;
    std::atomic<std::uint64_t> percent_ = 0; ///< of the current file

    std::mutex mutex_; ///< guards the members below
    std::condition_variable changed_;
    std::deque<FinishedFile> unread_;
    std::deque<FinishedFile> unpacked_; ///< read back and sound
    bool reading_ = false;
    std::string damage_;  ///< not yet taken
    bool closed_ = false; ///< no more files will follow
    bool over_ = false;   ///< run() has ended

    std::thread thread_; ///< started with the first file
};

// Packs a finished trace file: records in blocks, other sections with zstd.

/// Called now and then with the number of bytes read so far; returns whether to continue.
using GoesOn = std::function<bool(std::uint64_t done, std::uint64_t size)>;

/// Writes a packed copy of the trace file at `path`, which is open at `fd` and locked, beside it,
/// and replaces the file (system/replaced_file.hpp): programs that have it open still read the old
/// one. Leaves the file as it is if packing does not make it smaller, or if it is not a regular
/// file. Reads back everything that it writes before it replaces the file. Throws Error, and leaves
/// the file as it is, if the file is damaged, has no end or changes meanwhile, if the copy cannot
/// be written, or if `goes_on` returns false.
void pack_file(const std::string& path, int fd, const GoesOn& goes_on);

} // namespace mmioscope::trace
