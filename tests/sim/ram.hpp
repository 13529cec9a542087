// Simulated memory: host memory at simulated physical addresses. It contains translation tables and
// the trace area, so that descriptors have addresses that a walk can follow.
#pragma once

#include "base/address.hpp"

#include <cstddef>
#include <cstring>

namespace mmioscope::sim {

class Ram {
public:
    explicit Ram(Range range);
    ~Ram();
    Ram(const Ram&) = delete;
    Ram& operator=(const Ram&) = delete;

    const Range& range() const { return range_; }
    bool contains(std::uint64_t address, std::uint64_t size) const {
        return range_.contains(Range{address, address + size});
    }

    /// The host's memory for `address`. Throws Failure if it is outside.
    std::byte* at(PhysicalAddress address) const;
    /// The simulated address of an object in it. Throws Failure if it is elsewhere.
    PhysicalAddress address_of(const void* object) const;

    template <class T>
    T load(std::uint64_t address) const {
        T value;
        std::memcpy(&value, at({address}), sizeof value);
        return value;
    }
    template <class T>
    void store(std::uint64_t address, T value) {
        std::memcpy(at({address}), &value, sizeof value);
    }

private:
    Range range_;
    std::byte* bytes_;
};

} // namespace mmioscope::sim
