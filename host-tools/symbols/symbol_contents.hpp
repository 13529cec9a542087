// The content of a file with symbols, whose format is detected.
#pragma once

#include "system/file_descriptor.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mmioscope::symbols {

class Contents {
public:
    enum class Kind { elf, kallsyms, modules, image };

    /// Reads `path`, and decompresses it if necessary; only opens an ELF file. Throws Error
    /// (bad_input).
    explicit Contents(const std::string& path);

    Kind kind() const { return kind_; }
    std::span<const std::byte> bytes() const { return bytes_; }
    std::string_view text() const {
        return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
    }
    const FileDescriptor& file() const { return file_; } ///< for an ELF file

private:
    Kind kind_ = Kind::image;
    FileDescriptor file_;
    std::vector<std::byte> bytes_;
};

} // namespace mmioscope::symbols
