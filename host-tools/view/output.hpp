// The output of a command's data: standard output or a file.
#pragma once

#include <cstdio>
#include <string>

namespace mmioscope::view {

class Output {
public:
    /// Creates or empties `path`; empty or "-" is standard output. Throws Error (bad_input).
    explicit Output(const std::string& path);
    ~Output();
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;

    std::FILE* file() const { return file_; }
    bool terminal() const { return terminal_; }
    /// Width of its lines in characters (table/text.hpp).
    std::size_t width() const { return width_; }

    /// The data is complete, or `file` accepts no more. Throws Error (failed) if it is not all
    /// written. Ends the program silently with SIGPIPE if its reader is gone.
    void close();

private:
    std::string path_;
    std::FILE* file_;
    bool terminal_; // when it was opened: a pager may be started later
    std::size_t width_;
};

} // namespace mmioscope::view
