#include "trace/in_flight.hpp"

#include "port/barrier.hpp"
#include "port/shared.hpp"

namespace mmioscope {

// RingWriter::begin() stores "beginning", then the words in any order, then "begun". So what is
// read behind a word of an access is of that one or a later one.
std::optional<InFlightMark> read_in_flight(const abi::RingHeader& ring) {
    InFlightMark mark{};
    mark.time = port::load_shared(ring.in_flight_time);
    port::order_memory(); // a time, then its mark, not the one before
    mark.state = port::load_shared(ring.in_flight);
    port::order_memory(); // a mark, then its words
    mark.pc = port::load_shared(ring.in_flight_pc);
    mark.pa = port::load_shared(ring.in_flight_pa);
    port::order_memory(); // words of the next access, then its mark
    if (port::load_shared(ring.in_flight) != mark.state) return std::nullopt;
    port::order_memory(); // the same mark of another access, then its time
    if (port::load_shared(ring.in_flight_time) != mark.time) return std::nullopt;
    return mark;
}

} // namespace mmioscope
