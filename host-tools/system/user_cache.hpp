// Bytes that a program keeps from one run to the next, in a folder of the user's.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mmioscope {

/// A file for each key, with a checksum. A cache that cannot be used is none: nothing here fails.
class UserCache {
public:
    static constexpr std::size_t most = 8; ///< files; the one not used for longest goes first

    /// `folder` is made, mode 0700, if it would be in a folder of ours. One that is not ours, or
    /// that others may write, is not used; nor is an empty name.
    explicit UserCache(const std::string& folder);

    /// `key` is a file's name. Nothing: not kept, or damaged.
    std::optional<std::vector<std::byte>> find(const std::string& key) const;
    void keep(const std::string& key, std::span<const std::byte> bytes) const;
    /// Where the caller may write a file of its own, without a checksum, which counts as one of the
    /// files; empty: the cache is none.
    std::string place(const std::string& key) const;

private:
    std::string folder_; ///< empty: unusable
};

/// mmioscope/`name` in $XDG_CACHE_HOME, or in ~/.cache; empty if neither is known.
std::string user_cache_folder(const char* name);

// Finds programs like a shell.

/// Whether `path` exists and is executable; errno has the reason if not.
bool is_executable(const std::string& path);

/// The path of the program `name` in $PATH; nothing if no folder has it.
std::optional<std::string> find_in_path(std::string_view name);

} // namespace mmioscope
