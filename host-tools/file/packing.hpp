// Packs finished trace files one after the other, while the program goes on.
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
    /// Unless they are `wanted`, files stay as they are.
    explicit Packing(bool wanted) : wanted_(wanted) {}
    /// Gives up what is not packed yet.
    ~Packing();
    Packing(const Packing&) = delete;
    Packing& operator=(const Packing&) = delete;

    /// The trace file at `path` is finished: nobody writes to it, or opens it to follow it, any
    /// more. One that cannot be packed stays, and standard error has a line about it.
    void add(const std::string& path);

    /// Waits for all of them, with a line of progress if somebody may see it. Ctrl-C leaves the
    /// rest as it is.
    void finish(bool shows_progress);

private:
    void run();
    void close();
    void pack(const std::string& path);

    bool wanted_;
    std::atomic<bool> given_up_ = false;
    std::atomic<std::uint64_t> percent_ = 0; ///< of the file that is being packed

    std::mutex mutex_; ///< of what stands below
    std::condition_variable changed_;
    std::deque<std::string> paths_;
    bool closed_ = false; ///< no more follow
    bool over_ = false;   ///< run() is

    std::thread thread_; ///< from the first file on
};

} // namespace mmioscope::trace
