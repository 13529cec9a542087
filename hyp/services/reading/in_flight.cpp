#include "reading/in_flight.hpp"

#include "port/memory.hpp"

namespace mmioscope {

namespace {

constexpr InFlightMark unknown{abi::InFlight::beginning, 0, 0, 0};

InFlightMark look(const abi::RingHeader& ring, std::uint64_t capacity) {
    const abi::InFlight state = port::load_shared(ring.in_flight);
    port::order_memory(); // a mark, then its words
    if (state == abi::InFlight::in_header)
        return {state, port::load_shared(ring.in_flight_pc), port::load_shared(ring.in_flight_pa),
                port::load_shared(ring.in_flight_time)};
    if (!abi::is_slot_mark(state)) return {state, 0, 0, 0};
    const abi::Record* const slot = marked_slot(ring, capacity, state);
    if (slot == nullptr) return unknown;
    const InFlightMark mark{state, port::load_shared(slot->pc), port::load_shared(slot->pa_low),
                            port::load_shared(slot->time)};
    port::order_memory(); // its words, then whether they are still the access's
    return port::load_shared(slot->commit) == 0 ? mark : unknown;
}

} // namespace

const abi::Record* marked_slot(const abi::RingHeader& ring, std::uint64_t capacity,
                               abi::InFlight mark) {
    const auto* slots = reinterpret_cast<const abi::Record*>(&ring + 1);
    const std::uint32_t at = abi::slot_of(mark, port::address_of(slots).value);
    return at < capacity ? &slots[at] : nullptr;
}

// A writer stores "beginning", then the words in any order, then "begun". So if the second look has
// the mark of a later access, it has all words of that one; what the first one has mixed is not the
// same.
std::optional<InFlightMark> read_in_flight(const abi::RingHeader& ring, std::uint64_t capacity) {
    const InFlightMark mark = look(ring, capacity);
    port::order_memory();
    if (look(ring, capacity) != mark) return std::nullopt;
    return mark;
}

} // namespace mmioscope
