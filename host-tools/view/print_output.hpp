// The output of a command's data: standard output or a file.
#pragma once

#include "export/output.hpp"

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
    /// Width of its lines in characters (table/text.hpp).
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

} // namespace mmioscope::view
