// The hypervisor's own device accesses. Each makes an `own` record, so the trace contains
// everything on the bus, except that a register that is polled makes one.
#pragma once

#include "abi/record.hpp"
#include "base/address.hpp"
#include "base/fixed_vector.hpp"

namespace mmioscope {

class RingWriter;

/// An access of a CPU that was made before its ring existed, kept until then.
struct EarlyAccess {
    std::uint32_t address;
    std::uint32_t value;
    std::uint8_t access; ///< as abi::Record::access
};
using EarlyAccesses = FixedVector<EarlyAccess, 128>;

/// One CPU's accesses to devices, of 32 bits unless `log2_size` says otherwise.
class OwnBus {
public:
    std::uint32_t read(PhysicalAddress address, unsigned log2_size = 2);
    void write(PhysicalAddress address, std::uint32_t value, unsigned log2_size = 2);
    /// Reads until the bits in `mask` equal `wanted`, or for the `max_reads`-th time; only the last
    /// read makes a record. False: they never did.
    bool poll(PhysicalAddress address, std::uint32_t mask, std::uint32_t wanted, unsigned max_reads,
              unsigned log2_size = 2);

    /// Records accesses in `ring` from now on, beginning with the early ones. `map` has the
    /// devices.
    void attach(RingWriter& ring, const class RegionMap& map);

    /// Number of records that it has made; for another CPU to ask.
    std::uint32_t recorded() const { return recorded_; }
    /// Number of early accesses that there was no room for.
    std::uint32_t forgotten() const { return forgotten_; }

private:
    void record(PhysicalAddress address, std::uint32_t value, std::uint8_t access,
                std::uint64_t time);

    RingWriter* ring_{};
    const RegionMap* map_{};
    EarlyAccesses early_;
    std::uint32_t recorded_{};
    std::uint32_t forgotten_{};
};

} // namespace mmioscope
