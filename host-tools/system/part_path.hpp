// Names of the files of a recording that has several.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace mmioscope {

/// The name of the `number`th file: `path` itself, then with .2, .3 ... before its suffix.
std::string part_path(const std::string& path, unsigned number);

/// Possible names of the file after `path`, which is the `number`th, the likeliest first, for any
/// name of the first file; both may be compressed with zstd. Empty if `path` is not a possible name
/// of the `number`th file.
std::vector<std::string> next_part_paths(const std::string& path, unsigned number);

/// A line that says where a trace in `files` files was saved; empty without a `path`: not saved.
std::string saved_note(const std::string& path, unsigned files);

// A log beside a recording, such as the guest's console: it does not end the recording.

class SideFile {
public:
    /// `fd` belongs to the caller; `name` is its name in messages.
    SideFile(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}

    /// Appends all of `bytes`. If that fails, a message says so once, and the rest is dropped.
    void append(std::span<const std::byte> bytes);

    /// Whether all was written.
    bool whole() const { return whole_; }

private:
    int fd_;
    std::string name_;
    bool whole_ = true;
};

} // namespace mmioscope
