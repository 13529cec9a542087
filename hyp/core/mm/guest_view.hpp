// The only place that changes what a CPU's guest sees of stage 2: VTTBR and the TLB.
//
// The normal and all shadow tables share one VMID. The guest's own TLB maintenance acts on the
// current VMID only, and so reaches what was cached from either table. The price is that entries
// cached from one table would be used with the other. So both edges of a step invalidate, in this
// order:
//
//     VTTBR write, ISB, TLBIALL, DSB, and the ERET
//
// The ISB comes before the TLBIALL, since a walk before the ISB may still use the old table, and
// refill after an earlier TLBIALL. The TLBIALL is for this CPU only: no other CPU ever has an entry
// from this CPU's shadow table. (ARM ARM B3.10.5; docs/tlb.md has the argument and the
// alternatives.)
#pragma once

#include "base/address.hpp"
#include "port/barrier.hpp"
#include "port/sysreg.hpp"

namespace mmioscope {

class GuestView {
public:
    GuestView() = default;
    GuestView(PhysicalAddress normal, PhysicalAddress shadow);

    /// Loads the normal table with an empty TLB, before this CPU's first use of either table.
    void start();
    /// From here to close_shadow() this CPU's guest reaches the traced pages.
    void open_shadow() {
        load(shadow_);
        shadow_open_ = true;
    }
    void close_shadow() {
        load(normal_);
        shadow_open_ = false;
    }

    /// The guest's next accesses and fetches are translated anew.
    void forget() {
        port::write<reg::TLBIALL>(0);
        port::complete_local(); // the ERET is the synchronization
    }

    /// The fast path has opened the shadow table.
    void adopt_shadow() { shadow_open_ = true; }

    bool shadow_open() const { return shadow_open_; }
    std::uint64_t normal() const { return normal_; }
    std::uint64_t shadow() const { return shadow_; }
    /// Whether VTTBR agrees with shadow_open().
    bool consistent() const {
        return port::read<reg::VTTBR>() == (shadow_open_ ? shadow_ : normal_);
    }

private:
    void load(std::uint64_t vttbr) {
        port::write<reg::VTTBR>(vttbr);
        port::synchronize_context();
        forget();
    }

    std::uint64_t normal_{};
    std::uint64_t shadow_{};
    bool shadow_open_{};
};

} // namespace mmioscope
