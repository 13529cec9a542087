// A file or folder that has a temporary name until it is complete, and is removed if the command
// ends, fails or is interrupted before that.
#pragma once

#include "system/file_descriptor.hpp"

#include <signal.h>

#include <filesystem>
#include <thread>

namespace mmioscope::exporting {

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

} // namespace mmioscope::exporting
