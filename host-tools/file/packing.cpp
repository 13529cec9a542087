#include "file/packing.hpp"

#include "file/pack_file.hpp"
#include "system/error.hpp"
#include "system/message.hpp"
#include "system/progress_line.hpp"
#include "system/signals.hpp"

#include <utility>

namespace mmioscope::trace {

Packing::~Packing() {
    given_up_ = true;
    close();
}

void Packing::add(FinishedFile file) {
    const std::lock_guard lock(mutex_);
    unread_.push_back(std::move(file));
    changed_.notify_all();
    if (!thread_.joinable()) {
        thread_ = std::thread([this] { run(); });
    }
}

std::string Packing::take_damage(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, patience, [this] { return unread_.empty() && !reading_; });
    return std::exchange(damage_, "");
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

std::string Packing::finish(bool shows_progress) {
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
    return std::exchange(damage_, "");
}

// All files are read back before the next one is packed: a verdict waits for that.
void Packing::run() {
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [this] { return closed_ || !unread_.empty() || !unpacked_.empty(); });
        std::deque<FinishedFile>& next = unread_.empty() ? unpacked_ : unread_;
        if (next.empty()) {
            break;
        }
        const FinishedFile file = std::move(next.front());
        next.pop_front();
        reading_ = &next == &unread_;
        const bool reads = reading_;
        lock.unlock();
        reads ? read(file) : pack(file);
        lock.lock();
        reading_ = false;
        changed_.notify_all();
    }
    over_ = true;
    changed_.notify_all();
}

void Packing::damaged(const std::string& why) {
    const std::lock_guard lock(mutex_);
    damage_ = damage_.empty() ? why : damage_;
}

void Packing::read(const FinishedFile& file) {
    try {
        read_back(file);
    } catch (const std::exception& error) {
        damaged(error.what());
        return;
    }
    if (wanted_) {
        const std::lock_guard lock(mutex_);
        unpacked_.push_back(file);
    }
}

void Packing::pack(const FinishedFile& file) {
    try {
        pack_file(file.path, file.file->file.get(), [this](std::uint64_t done, std::uint64_t size) {
            percent_ = size == 0 ? 100 : done * 100 / size;
            return !given_up_;
        });
        return;
    } catch (const std::exception& error) {
        print_message("mmioscope: {} was not packed, and is as it was recorded: {}\n",
                      for_terminal(file.path), error.what());
    }
    try { // if the file was not what it was
        read_back(file);
    } catch (const std::exception& error) {
        damaged(error.what());
    }
}

} // namespace mmioscope::trace
