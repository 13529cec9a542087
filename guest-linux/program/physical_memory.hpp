// A piece of physical memory through /dev/mem.
#pragma once

#include "announced.hpp"
#include "system/file_descriptor.hpp"

#include <cstddef>
#include <span>

namespace mmioscope::guest {

class PhysicalMemory {
public:
    /// Maps `range`, whole pages, to be read and written; no other memory stays open. Throws Error
    /// (bad_input).
    explicit PhysicalMemory(PhysicalRange range);
    ~PhysicalMemory();
    PhysicalMemory(const PhysicalMemory&) = delete;
    PhysicalMemory& operator=(const PhysicalMemory&) = delete;

    std::span<std::byte> bytes() const { return bytes_; }

    /// Nobody else who asks for it gets it as long as this is there. False: somebody has it.
    [[nodiscard]] bool claim();

private:
    FileDescriptor claimed_;
    std::span<std::byte> bytes_;
};

} // namespace mmioscope::guest
