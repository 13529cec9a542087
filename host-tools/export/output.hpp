// The output of an export: standard output, or a file that is written atomically.
#pragma once

#include "system/file_descriptor.hpp"
#include "system/replaced_file.hpp"

#include <signal.h>

#include <filesystem>
#include <optional>
#include <string>
#include <thread>

namespace mmioscope::exporting {

// A file or folder that has a temporary name until it is complete, and is removed if the command
// ends, fails or is interrupted before that.

class Unfinished {
public:
    /// The caller will create `path`. From now on SIGINT, SIGTERM and SIGHUP remove it and then end
    /// the program as usual, unless they are ignored.
    explicit Unfinished(std::filesystem::path path);
    /// Removes it unless it was kept.
    ~Unfinished();
    Unfinished(const Unfinished&) = delete;
    Unfinished& operator=(const Unfinished&) = delete;

    const std::filesystem::path& path() const { return path_; }

    /// The folder is complete: renames it to `name`, replacing one that is there. Throws Error
    /// (failed).
    void keep_as(const std::filesystem::path& name);

private:
    void wait_for_signals();

    std::filesystem::path path_;
    sigset_t set_; ///< that end the program
    sigset_t before_;
    FileDescriptor stop_;
    FileDescriptor signals_;
    std::thread watcher_;
};

class Output {
public:
    /// "-" is standard output. Writes directly to a pipe or device. Throws Error (bad_input) if the
    /// path cannot be written.
    explicit Output(const std::string& path);

    int fd() const;
    const std::string& name() const { return name_; }
    bool terminal() const;
    /// Whether the output stays invisible until finish().
    bool held_back() const { return replaced_.has_value(); }

    /// Gives the complete file its name. Throws Error (failed).
    void finish();

private:
    std::string name_;
    FileDescriptor file_; ///< a pipe or device, or a file of somebody else
    std::optional<ReplacedFile> replaced_;
    std::optional<Unfinished> unfinished_; ///< removes it if a signal ends the program
};

} // namespace mmioscope::exporting
