// The only place that changes what a CPU's guest sees of stage 2: VTTBR and the TLB.
//
// All views share one VMID. The guest's own TLB maintenance acts on the current VMID only, and so
// reaches what was cached from any view. The price is that entries cached from one view would be
// used in another. So each change of the view invalidates, in this order:
//
//     VTTBR write, ISB, TLBIALL, DSB, and the ERET
//
// The ISB comes before the TLBIALL, since a walk before the ISB may still use the old table, and
// refill after an earlier TLBIALL. The TLBIALL is for this CPU only: no other CPU ever has an entry
// from a view that only this one enters. (ARM ARM B3.10.5; docs/tlb.md has the argument and the
// alternatives.)
#pragma once

#include "mm/translation_table.hpp"
#include "port/barrier.hpp"
#include "port/sysreg.hpp"

namespace mmioscope {

/// What a guest may see of stage 2. There may be any number of views, with tables below their roots
/// in common.
class View : public TranslationTable {
public:
    View() = default;
    explicit View(lpae::Descriptor* root)
        : TranslationTable(root), vttbr_((std::uint64_t{1} << 48) | this->root().value) {}

    /// VTTBR (ARM ARM B4.1.160), with the VMID in bits 55:48. It is not 0, so a missing write is
    /// noticed.
    std::uint64_t vttbr() const { return vttbr_; }

private:
    std::uint64_t vttbr_{};
};

/// The view in which a CPU's guest is.
class GuestView {
public:
    /// Begins in `view` with an empty TLB, before this CPU's first use of any.
    void start(const View& view) {
        port::write<reg::VTTBR>(view.vttbr());
        port::synchronize_context();
        port::write<reg::TLBIALLNSNH>(0); // all VMIDs: the TLB is UNKNOWN after reset
        port::write<reg::ICIALLU>(0);
        port::complete_local();
        current_ = &view;
    }
    void enter(const View& view) {
        if (&view == current_) return;
        port::write<reg::VTTBR>(view.vttbr());
        port::synchronize_context();
        forget();
        current_ = &view;
    }

    /// The guest's next accesses and fetches are translated anew.
    void forget() {
        port::write<reg::TLBIALL>(0);
        port::complete_local(); // the ERET is the synchronization
    }

    /// The fast path has entered `view`.
    void adopt(const View& view) { current_ = &view; }

    bool is_in(const View& view) const { return &view == current_; }
    /// Whether VTTBR agrees with is_in().
    bool consistent() const { return port::read<reg::VTTBR>() == current_->vttbr(); }

private:
    const View* current_{};
};

} // namespace mmioscope
