#include "machine/power.hpp"

#include "port/wait.hpp"

namespace mmioscope {

void Power::note(const BoardEvent& event, std::uint32_t value) {
    // The guest wakes the sleeping CPU by an interrupt after a DSB, so release is enough here.
    if (event.kind == BoardEvent::Kind::start_address_set)
        start_address_.fetch_or(value, std::memory_order_release);
    if (event.kind == BoardEvent::Kind::start_address_clear)
        start_address_.fetch_and(~value, std::memory_order_release);
}

std::uint32_t Power::wait_for_start() const {
    for (;;) {
        if (const auto address = start_address_.load(std::memory_order_acquire)) return address;
        port::wait_for_interrupt();
    }
}

} // namespace mmioscope
