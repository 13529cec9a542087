// The output of a command's data: standard output or a file.
#pragma once

#include "export/output.hpp"

#include <sys/types.h>

#include <cstdio>
#include <optional>
#include <string>

namespace mmioscope::view {

class Output {
public:
    /// When a file has its name: when it is complete, or at once, for people who watch it grow.
    enum class Appears { whole, growing };

    /// Opens `path`; empty or "-" is standard output. Throws Error (bad_input).
    explicit Output(const std::string& path, Appears appears = Appears::whole);
    ~Output();
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;

    std::FILE* file() const { return file_; }
    bool terminal() const { return terminal_; }
    /// Width of its lines in characters (table/table.hpp).
    std::size_t width() const { return width_; }

    /// The data is complete, or `file` accepts no more. Throws Error (failed) if it is not all
    /// written. Ends the program silently with SIGPIPE if its reader is gone.
    void close();

private:
    static std::FILE* open(FileDescriptor file);

    std::string path_;
    std::optional<exporting::Output> whole_; ///< nothing: standard output, or one that grows
    std::FILE* file_ = stdout;
    bool terminal_; // when it was opened: a pager may be started later
    std::size_t width_;
};

// Sends output on a terminal through a pager, like git.

class Pager {
public:
    /// As long as this object lives, standard output goes to a pager, and so does standard error if
    /// it is a terminal. Does nothing if `wanted` is false, if standard output is not a terminal or
    /// a dumb one, or if there is no pager. The pager is MMIOSCOPE_PAGER, PAGER or `less`; empty
    /// and `cat` mean none. One at a time.
    explicit Pager(bool wanted);
    /// Waits until the user leaves the pager.
    ~Pager();
    Pager(const Pager&) = delete;
    Pager& operator=(const Pager&) = delete;

private:
    int output_ = -1; ///< the original standard output; -1: no pager
    int errors_ = -1; ///< likewise for standard error
};

} // namespace mmioscope::view
