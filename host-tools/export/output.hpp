// The output of an export: standard output, or a file that is written atomically.
#pragma once

#include "export/unfinished.hpp"
#include "system/file_descriptor.hpp"

#include <filesystem>
#include <memory>
#include <string>

namespace mmioscope::exporting {

/// The path, with symbolic links resolved.
std::filesystem::path final_path(const std::string& path);

/// An unused name beside `path`.
std::filesystem::path name_beside(const std::filesystem::path& path);

class Output {
public:
    /// "-" is standard output. Writes directly to a pipe or device. Throws Error (bad_input) if the
    /// path cannot be written.
    explicit Output(const std::string& path);

    int fd() const;
    const std::string& name() const { return name_; }
    bool terminal() const;
    /// Whether the output stays invisible until finish().
    bool held_back() const { return unfinished_ != nullptr; }

    /// Gives the complete file its name. Throws Error (failed).
    void finish();

private:
    std::string name_;
    std::filesystem::path path_;
    FileDescriptor file_;
    std::unique_ptr<Unfinished> unfinished_;
};

} // namespace mmioscope::exporting
