// The hypervisor's own device accesses: each becomes an `own` record, so that a trace accounts
// for everything on the bus.
#pragma once

#include "abi/record.hpp"
#include "base/address.hpp"
#include "base/fixed_vector.hpp"

namespace mmioscope {

class RingWriter;

/// Accesses of one CPU made before its ring existed, kept until it does.
struct EarlyAccess {
    std::uint32_t address;
    std::uint32_t value;
    std::uint8_t access; ///< as abi::Record::access
};
using EarlyAccesses = FixedVector<EarlyAccess, 128>;

/// One CPU's way to devices. Accesses are 32 bits wide if not said otherwise.
class OwnBus {
public:
    std::uint32_t read(PhysicalAddress address, unsigned log2_size = 2);
    void write(PhysicalAddress address, std::uint32_t value, unsigned log2_size = 2);

    /// From now on accesses go to `ring`, those made so far first. `map` names the devices.
    void attach(RingWriter& ring, const class RegionMap& map);

    /// Accesses that could not be kept before the ring existed.
    std::uint32_t forgotten() const { return forgotten_; }

private:
    void record(PhysicalAddress address, std::uint32_t value, std::uint8_t access,
                std::uint64_t time);

    RingWriter* ring_{};
    const RegionMap* map_{};
    EarlyAccesses early_;
    std::uint32_t forgotten_{};
};

} // namespace mmioscope
