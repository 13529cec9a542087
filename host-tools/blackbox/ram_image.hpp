// The content of a machine's RAM: a dump, or the file behind the RAM of a QEMU, running or not.
#pragma once

#include "system/file_descriptor.hpp"

#include <cstddef>
#include <span>
#include <string>

namespace mmioscope::blackbox {

class RamImage {
public:
    /// Maps the file `path`, which is never written to. What is compressed with zstd, a pipe or
    /// standard input ("-") is copied into a temporary file first. A file with a trace area in it
    /// is not compressed, whatever the guest wrote to its first bytes. Throws Error (bad_input)
    /// that names it.
    explicit RamImage(const std::string& path);
    ~RamImage();
    RamImage(const RamImage&) = delete;
    RamImage& operator=(const RamImage&) = delete;

    std::span<std::byte> bytes() const { return bytes_; }

private:
    RamImage(const FileDescriptor& file, const std::string& path);
    static FileDescriptor open(const std::string& path);

    std::span<std::byte> bytes_;
};

} // namespace mmioscope::blackbox
