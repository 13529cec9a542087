#include "view/print_output.hpp"

#include "system/error.hpp"
#include "table/text.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

namespace mmioscope::view {

Output::Output(const std::string& path, Appears appears) : path_(path) {
    if (!path.empty() && path != "-") {
        if (appears == Appears::whole) {
            whole_.emplace(path);
        }
        file_ = open(whole_ ? FileDescriptor(::fcntl(whole_->fd(), F_DUPFD_CLOEXEC, 0))
                            : create_output(path));
    }
    terminal_ = ::isatty(::fileno(file_)) != 0;
    width_ = table::width_of(::fileno(file_));
}

std::FILE* Output::open(FileDescriptor file) {
    std::FILE* const stream = file ? ::fdopen(file.get(), "w") : nullptr;
    if (stream == nullptr) {
        throw failure("cannot open a file: {}", std::strerror(errno));
    }
    file.release();
    return stream;
}

Output::~Output() {
    if (file_ != stdout) {
        std::fclose(file_);
    }
}

namespace {

// errno of an earlier write is lost: the next one usually fails for the same reason.
int why_it_fails(std::FILE* file) {
    std::clearerr(file);
    const bool works = std::fputc('\n', file) != EOF && std::fflush(file) == 0;
    return works ? 0 : errno;
}

bool reader_gone(int fd) {
    pollfd watched{fd, POLLOUT, 0};
    return ::poll(&watched, 1, 0) == 1 && (watched.revents & POLLERR) != 0;
}

} // namespace

void Output::close() {
    errno = 0;
    const bool whole = std::fflush(file_) == 0 && std::ferror(file_) == 0;
    if (whole) {
        if (whole_) {
            whole_->finish();
        }
        return;
    }
    const int why_now = errno;
    if (reader_gone(::fileno(file_))) { // if the parent process ignores SIGPIPE
        std::signal(SIGPIPE, SIG_DFL);
        std::raise(SIGPIPE);
    }
    const int why = why_now != 0 ? why_now : why_it_fails(file_);
    throw failure("cannot write {}: {}", file_ == stdout ? "standard output" : path_,
                  why != 0 ? std::strerror(why) : "an earlier write failed");
}

} // namespace mmioscope::view
