// A piece of physical memory through /dev/mem.
#pragma once

#include "announced.hpp"
#include "system/file_descriptor.hpp"

#include <cstddef>
#include <span>

namespace mmioscope::guest {

class PhysicalMemory {
public:
    /// Maps `range`, whole pages, for reading and writing, and keeps no other memory open. Throws
    /// Error (bad_input).
    explicit PhysicalMemory(PhysicalRange range);
    ~PhysicalMemory();
    PhysicalMemory(const PhysicalMemory&) = delete;
    PhysicalMemory& operator=(const PhysicalMemory&) = delete;

    std::span<std::byte> bytes() const { return bytes_; }

    /// Claims it for this program, while this object exists. False: another program has it.
    [[nodiscard]] bool claim();

private:
    FileDescriptor claimed_;
    std::span<std::byte> bytes_;
};

} // namespace mmioscope::guest
