#include "mm/guest_view.hpp"

namespace mmioscope {

namespace {
/// VTTBR (ARM ARM B4.1.160), with the VMID in bits 55:48. It is not 0, so a missing write is
/// noticed.
constexpr std::uint64_t vttbr(PhysicalAddress root) {
    return (std::uint64_t{1} << 48) | root.value;
}
} // namespace

GuestView::GuestView(PhysicalAddress normal, PhysicalAddress shadow)
    : normal_(vttbr(normal)), shadow_(vttbr(shadow)) {}

void GuestView::start() {
    port::write<reg::VTTBR>(normal_);
    port::synchronize_context();
    port::write<reg::TLBIALLNSNH>(0); // all VMIDs: the TLB is UNKNOWN after reset
    port::write<reg::ICIALLU>(0);
    port::complete_local();
    shadow_open_ = false;
}

} // namespace mmioscope
