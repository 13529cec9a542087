// A file or folder that gets its name only when it is complete. Until then it has a temporary name
// beside it, and is removed if the command ends, fails or is interrupted.
#pragma once

#include "system/file_descriptor.hpp"

#include <signal.h>

#include <filesystem>
#include <thread>

namespace mmioscope::exporting {

class Unfinished {
public:
    /// Something named `path` will be made by the caller. From now on SIGINT, SIGTERM and SIGHUP
    /// remove it and then end the program as they would have.
    explicit Unfinished(std::filesystem::path path);
    /// Removes it, if it has not been kept.
    ~Unfinished();
    Unfinished(const Unfinished&) = delete;
    Unfinished& operator=(const Unfinished&) = delete;

    const std::filesystem::path& path() const { return path_; }

    /// It is whole: it becomes `name`, in place of what is there. Throws Error (failed).
    void keep_as(const std::filesystem::path& name);

private:
    void wait_for_signals();

    std::filesystem::path path_;
    sigset_t before_;
    FileDescriptor stop_;
    FileDescriptor signals_;
    std::thread watcher_;
};

} // namespace mmioscope::exporting
