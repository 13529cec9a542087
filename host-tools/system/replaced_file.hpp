// A file that takes the place of another one as a whole, or not at all: it is written beside it.
#pragma once

#include "system/file_descriptor.hpp"

#include <sys/stat.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mmioscope {

/// What `path` names, with symbolic links resolved; `path` itself if it names nothing.
std::string real_path(const std::string& path);

/// Whether another file can take the place of `path`: it names a regular file whose owner we can
/// keep, or nothing. /dev/stdout and the like are no names of their own.
bool is_replaceable(const std::string& path);

class ReplacedFile {
public:
    /// Creates the new file, empty, in the folder of `path`, whose link stays a link. It has the
    /// mode and the owner of the old file, or 0666 less the umask. The old file is locked (see
    /// create_output()). Throws Error (bad_input) if it cannot be written, or somebody writes it.
    explicit ReplacedFile(const std::string& path);
    /// Likewise; `original` is the old file, locked by the caller.
    ReplacedFile(const std::string& path, int original);
    /// Removes the new file unless it was committed.
    ~ReplacedFile();
    ReplacedFile(const ReplacedFile&) = delete;
    ReplacedFile& operator=(const ReplacedFile&) = delete;

    int fd() const { return file_.get(); }
    /// Its name until commit().
    const std::string& beside() const { return beside_; }

    /// It is complete: gives it its name. Throws Error (failed) if another file has that name by
    /// now.
    void commit();

private:
    void create();
    void keep_mode_and_owner();
    bool is_unchanged() const;

    std::string path_;
    FileDescriptor lock_;
    std::optional<struct stat> old_; ///< nothing: there was no file
    std::string beside_;
    FileDescriptor file_;
};

/// A name in the folder of `path` that nothing has, however long its own name is.
std::string name_beside(const std::string& path);

// Refuses an output that is also an input, since creating it would empty the input, or another
// output.

/// Throws Error (bad_input) if `output` is the same file as one of `inputs`, under any names; "-"
/// is standard output or input, "" none. Call it before creating `output`. A file that is not
/// regular (a device, a pipe, a socket) may be both.
void check_distinct(const std::string& output, const std::vector<std::string>& inputs);
/// Likewise, for inputs that take some work to find: calls the function only if `output` exists.
void check_distinct(const std::string& output,
                    const std::function<std::vector<std::string>()>& inputs);

/// Whether an output may go on in FILE.2, FILE.3 ....
enum class Numbered { no, yes };

struct NamedOutput {
    const char* option; ///< for messages
    std::string path;   ///< "-": standard output; empty: none
    Numbered numbered = Numbered::no;
    bool may_be_standard = false; ///< and not only a file
};

/// Throws Error (bad_input) if one of `outputs` cannot be created, before another one is; or if it
/// is standard output and may not, for messages go there: it would be a file called "-". Throws one
/// that names both if two of `outputs` are, or will be, the same file,
/// under any names. None of them need exist. Devices and pipes may be several.
void check_distinct_outputs(const std::vector<NamedOutput>& outputs);

// Names of the files of a recording that has several.

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
