#include "export/output.hpp"

#include "system/error.hpp"
#include "system/signals.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace mmioscope::exporting {

Output::Output(const std::string& path) : name_(path == "-" ? "standard output" : path) {
    if (path == "-") {
        return;
    }
    if (std::error_code ignored; std::filesystem::is_directory(path, ignored)) {
        throw bad_input("cannot write {}: it is a folder", path);
    }
    if (is_replaceable(path)) {
        replaced_.emplace(path);
        unfinished_.emplace(replaced_->beside());
        return;
    }
    // Without effect on a pipe or a device: it empties another name of an open file.
    file_ = FileDescriptor(::open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
    if (!file_) {
        throw bad_input("cannot write {}: {}", path, std::strerror(errno));
    }
}

int Output::fd() const {
    return replaced_ ? replaced_->fd() : file_ ? file_.get() : STDOUT_FILENO;
}

bool Output::terminal() const {
    return ::isatty(fd()) != 0;
}

void Output::finish() {
    if (replaced_) {
        replaced_->commit();
    }
}

Unfinished::Unfinished(std::filesystem::path path) : path_(std::move(path)) {
    set_ = ending_signals();
    ::pthread_sigmask(SIG_BLOCK, &set_, &before_);
    stop_ = FileDescriptor(::eventfd(0, EFD_CLOEXEC));
    signals_ = FileDescriptor(::signalfd(-1, &set_, SFD_CLOEXEC));
    if (!stop_ || !signals_) {
        throw failure("cannot watch for signals: {}", std::strerror(errno));
    }
    watcher_ = std::thread([this] { wait_for_signals(); });
}

// A separate thread, so that signals also end a command that waits for its input.
void Unfinished::wait_for_signals() {
    pollfd files[2] = {{stop_.get(), POLLIN, 0}, {signals_.get(), POLLIN, 0}};
    while (::poll(files, 2, -1) < 0 && errno == EINTR) {
    }
    signalfd_siginfo info{};
    if (files[0].revents == 0 && ::read(signals_.get(), &info, sizeof info) == sizeof info) {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
        const int signal = static_cast<int>(info.ssi_signo);
        ::signal(signal, SIG_DFL);
        ::pthread_sigmask(SIG_UNBLOCK, &set_, nullptr);
        ::raise(signal);
    }
}

Unfinished::~Unfinished() {
    const std::uint64_t one = 1;
    (void)!::write(stop_.get(), &one, sizeof one);
    watcher_.join();
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void Unfinished::keep_as(const std::filesystem::path& name) {
    // A folder can replace another one only by exchange; then the old one is at path_.
    const bool other = std::filesystem::exists(name);
    if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, name.c_str(), other ? RENAME_EXCHANGE : 0) ==
        0) {
        return;
    }
    if (other && errno == EINVAL) { // the file system cannot exchange
        std::filesystem::remove_all(name);
        if (::rename(path_.c_str(), name.c_str()) == 0) {
            return;
        }
    }
    throw failure("cannot write {}: {}", name.string(), std::strerror(errno));
}

} // namespace mmioscope::exporting
