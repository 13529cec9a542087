#include "mm/guest_view.hpp"

namespace mmioscope {

void GuestView::start(const View& view) {
    port::write<reg::VTTBR>(view.vttbr());
    port::synchronize_context();
    port::write<reg::TLBIALLNSNH>(0); // all VMIDs: the TLB is UNKNOWN after reset
    port::write<reg::ICIALLU>(0);
    port::complete_local();
    current_ = &view;
}

} // namespace mmioscope
