// Packs finished trace files one after the other in the background.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

namespace mmioscope::trace {

class Packing {
public:
    /// Files stay as they are unless `wanted`.
    explicit Packing(bool wanted) : wanted_(wanted) {}
    /// Gives up on the files not yet packed.
    ~Packing();
    Packing(const Packing&) = delete;
    Packing& operator=(const Packing&) = delete;

    /// The trace file at `path` is finished: nobody writes to it or will open it to follow it. If
    /// it cannot be packed, it stays as it is, and a line is printed on standard error.
    void add(const std::string& path);

    /// Waits for all files, with a progress line on a terminal. Ctrl-C leaves the rest unpacked.
    void finish(bool shows_progress);

private:
    void run();
    void close();
    void pack(const std::string& path);

    bool wanted_;
    std::atomic<bool> given_up_ = false;
    std::atomic<std::uint64_t> percent_ = 0; ///< of the current file

    std::mutex mutex_; ///< guards the members below
    std::condition_variable changed_;
    std::deque<std::string> paths_;
    bool closed_ = false; ///< no more files will follow
    bool over_ = false;   ///< run() has ended

    std::thread thread_; ///< started with the first file
};

} // namespace mmioscope::trace
