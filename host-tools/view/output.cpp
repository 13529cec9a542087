#include "view/output.hpp"

#include "lib/error.hpp"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

namespace mmioscope::view {

Output::Output(const std::string& path)
    : path_(path), file_(path.empty() || path == "-" ? stdout : std::fopen(path.c_str(), "we")) {
    if (file_ == nullptr) {
        throw bad_input("cannot write {}: {}", path, std::strerror(errno));
    }
}

Output::~Output() {
    if (file_ != stdout && file_ != nullptr) {
        std::fclose(file_);
    }
}

bool Output::terminal() const {
    return ::isatty(::fileno(file_)) != 0;
}

void Output::close() {
    errno = 0;
    const bool whole = std::fflush(file_) == 0 && std::ferror(file_) == 0;
    if (whole) {
        return;
    }
    if (errno == EPIPE) { // where whoever started this ignores SIGPIPE
        std::signal(SIGPIPE, SIG_DFL);
        std::raise(SIGPIPE);
    }
    throw failure("cannot write {}: {}", file_ == stdout ? "standard output" : path_,
                  errno != 0 ? std::strerror(errno) : "an earlier write failed");
}

} // namespace mmioscope::view
