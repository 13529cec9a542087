#include "system/message.hpp"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace mmioscope {

namespace {

/// No SIGPIPE of this thread's writes while it lives.
class WithoutPipeSignal {
public:
    WithoutPipeSignal() {
        ::sigemptyset(&pipe_);
        ::sigaddset(&pipe_, SIGPIPE);
        ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
    }
    ~WithoutPipeSignal() {
        if (broken_ && ::sigismember(&before_, SIGPIPE) == 0) {
            const timespec at_once{};
            ::sigtimedwait(&pipe_, nullptr, &at_once);
        }
        ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
    WithoutPipeSignal(const WithoutPipeSignal&) = delete;
    WithoutPipeSignal& operator=(const WithoutPipeSignal&) = delete;

    void broken() { broken_ = true; }

private:
    sigset_t pipe_{};
    sigset_t before_{};
    bool broken_ = false;
};

} // namespace

void write_message(std::string_view text) noexcept {
    const int before = errno;
    WithoutPipeSignal quiet;
    while (!text.empty()) {
        const ssize_t size = ::write(STDERR_FILENO, text.data(), text.size());
        if (size < 0 && errno != EINTR) {
            if (errno == EPIPE) {
                quiet.broken();
            }
            break;
        }
        text.remove_prefix(size > 0 ? static_cast<std::size_t>(size) : 0);
    }
    errno = before;
}

void write_output(std::string_view text) noexcept {
    std::fwrite(text.data(), 1, text.size(), stdout);
}

Status status_of_output(Status status) {
    errno = 0;
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) {
        return status;
    }
    int why = errno;
    if (why == 0) { // that of an earlier write is lost: the next one usually fails for the same
        std::clearerr(stdout);
        why = std::fputc('\n', stdout) == EOF || std::fflush(stdout) != 0 ? errno : 0;
    }
    pollfd reader{STDOUT_FILENO, POLLOUT, 0};
    if (::poll(&reader, 1, 0) != 1 || (reader.revents & POLLERR) == 0) { // he has not gone
        print_message("mmioscope: cannot write standard output: {}\n",
                      why != 0 ? std::strerror(why) : "an earlier write failed");
    }
    return status == Status::fine ? Status::failed : status;
}

ProgressLine::ProgressLine(bool wanted) : visible_(wanted && ::isatty(STDERR_FILENO) != 0) {}

void ProgressLine::show(double seconds, const std::function<std::string()>& text) {
    if (visible_ && seconds >= next_) {
        next_ = seconds + 0.5;
        print_message("\r{:6.1f} s, {:<68}", seconds, text());
    }
}

void ProgressLine::clear() {
    if (next_ > 0) { // something was shown
        next_ = 0;
        print_message("\r{:78}\r", "");
    }
}

} // namespace mmioscope
