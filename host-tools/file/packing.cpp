#include "file/packing.hpp"

#include "file/pack_file.hpp"
#include "system/error.hpp"
#include "system/progress_line.hpp"
#include "system/signals.hpp"

#include <chrono>

namespace mmioscope::trace {

Packing::~Packing() {
    given_up_ = true;
    close();
}

void Packing::add(const std::string& path) {
    if (!wanted_) {
        return;
    }
    const std::lock_guard lock(mutex_);
    paths_.push_back(path);
    changed_.notify_all();
    if (!thread_.joinable()) {
        thread_ = std::thread([this] { run(); });
    }
}

void Packing::close() {
    {
        const std::lock_guard lock(mutex_);
        closed_ = true;
        changed_.notify_all();
    }
    if (thread_.joinable()) {
        thread_.join();
    }
}

void Packing::finish(bool shows_progress) {
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::milliseconds moment{50};
    Signals signals;
    ProgressLine progress(shows_progress);
    const Clock::time_point start = Clock::now();
    std::unique_lock lock(mutex_);
    closed_ = true;
    changed_.notify_all();
    while (thread_.joinable() && !changed_.wait_for(lock, moment, [this] { return over_; })) {
        given_up_ = given_up_ || signals.pending();
        const std::chrono::duration<double> elapsed = Clock::now() - start;
        if (elapsed.count() > 0.5) {
            progress.show(elapsed.count(),
                          [this] { return fmt::format("packing: {} %", percent_.load()); });
        }
    }
    lock.unlock();
    progress.clear();
    close();
}

void Packing::run() {
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [this] { return closed_ || !paths_.empty(); });
        if (paths_.empty()) {
            break;
        }
        const std::string path = std::move(paths_.front());
        paths_.pop_front();
        lock.unlock();
        pack(path);
        lock.lock();
    }
    over_ = true;
    changed_.notify_all();
}

void Packing::pack(const std::string& path) {
    try {
        pack_file(path, [this](std::uint64_t done, std::uint64_t size) {
            percent_ = size == 0 ? 100 : done * 100 / size;
            return !given_up_;
        });
    } catch (const std::exception& error) {
        fmt::print(stderr, "mmioscope: {} was not packed, and is as it was recorded: {}\n",
                   for_terminal(path), error.what());
    }
}

} // namespace mmioscope::trace
