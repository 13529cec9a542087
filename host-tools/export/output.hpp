// The output of an export: standard output, or a file that appears under its name when it is
// complete.
#pragma once

#include "export/unfinished.hpp"
#include "system/file_descriptor.hpp"

#include <filesystem>
#include <memory>
#include <string>

namespace mmioscope::exporting {

/// The path itself, or where the links that it consists of lead.
std::filesystem::path final_path(const std::string& path);

/// A name beside `path` that nothing has.
std::filesystem::path name_beside(const std::filesystem::path& path);

class Output {
public:
    /// "-": standard output. What is no regular file (a pipe, a device) is written as it comes.
    /// Throws Error (bad_input) if it cannot be written.
    explicit Output(const std::string& path);

    int fd() const;
    const std::string& name() const { return name_; }
    bool terminal() const;
    /// Nobody sees anything of it before finish().
    bool held_back() const { return unfinished_ != nullptr; }

    /// All is written: the file takes its name. Throws Error (failed).
    void finish();

private:
    std::string name_;
    std::filesystem::path path_;
    FileDescriptor file_;
    std::unique_ptr<Unfinished> unfinished_;
};

} // namespace mmioscope::exporting
