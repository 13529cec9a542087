// The one place that changes what a CPU's guest sees of stage 2: VTTBR and the TLB.
//
// One VMID serves the normal and all shadow tables, so that the guest's own TLB maintenance, which
// acts on the current VMID only, reaches what was cached from either. The price: what is cached
// from one table would be used with the other, hence both edges of a step invalidate, in the order
//
//     VTTBR write, ISB, TLBIALL, DSB, and the ERET
//
// ISB first, since walks made before it may still use the old table and refill after an earlier
// TLBI. The TLBI is this CPU's own: no other CPU ever has an entry from this CPU's shadow table.
// (ARM ARM B3.10.5; docs/tlb.md has the argument and the alternatives.)
#pragma once

#include "base/address.hpp"
#include "port/barrier.hpp"
#include "port/sysreg.hpp"

namespace mmioscope {

class GuestView {
public:
    GuestView() = default;
    GuestView(PhysicalAddress normal, PhysicalAddress shadow);

    /// The first table of this CPU: the normal one, with nothing cached.
    void start();
    /// From here until close_shadow() the guest of this CPU reaches the traced pages.
    void open_shadow() {
        load(shadow_);
        shadow_open_ = true;
    }
    void close_shadow() {
        load(normal_);
        shadow_open_ = false;
    }

    /// The fast path has opened it.
    void adopt_shadow() { shadow_open_ = true; }

    bool shadow_open() const { return shadow_open_; }
    std::uint64_t normal() const { return normal_; }
    std::uint64_t shadow() const { return shadow_; }
    /// What VTTBR holds agrees with shadow_open().
    bool consistent() const;

private:
    static void load(std::uint64_t vttbr) {
        port::write<reg::VTTBR>(vttbr);
        port::synchronize_context();
        port::write<reg::TLBIALL>(0);
        port::complete_local(); // the ERET synchronises what follows
    }

    std::uint64_t normal_{};
    std::uint64_t shadow_{};
    bool shadow_open_{};
};

} // namespace mmioscope
