// The content of a machine's RAM: a dump, or the file behind the RAM of a QEMU that runs or has
// ended.
#pragma once

#include "system/byte_source.hpp"
#include "system/file_descriptor.hpp"

#include <cstddef>
#include <span>
#include <string>

namespace mmioscope::rings {

class RamImage {
public:
    /// Maps the file `path` read-only. First copies zstd data, a pipe or standard input ("-") into
    /// a temporary file. A file that contains a trace area is taken as not compressed, whatever its
    /// first bytes are. Calls `passed` as it copies. Throws Error (bad_input) that names the file.
    explicit RamImage(
        const std::string& path, const Passed& passed = [](std::size_t) {});
    ~RamImage();
    RamImage(const RamImage&) = delete;
    RamImage& operator=(const RamImage&) = delete;

    std::span<std::byte> bytes() const { return bytes_; }

private:
    RamImage(const FileDescriptor& file, const std::string& path);
    static FileDescriptor open(const std::string& path, const Passed& passed);

    std::span<std::byte> bytes_;
};

} // namespace mmioscope::rings
