#include "stream/kept_boot.hpp"

#include <cstring>
#include <utility>

namespace mmioscope {

void KeptBoot::start(const abi::AreaHeader& area, unsigned time_shift) {
    state_ = area.state;
    description_.start(area, time_shift);
    description_.pack();
    merge_.start_kept(area);
    piece_ = 0;
    again_ = false;
    advance(Stage::description);
}

abi::FrameType KeptBoot::type() const {
    return stage() == Stage::end ? abi::FrameType::previous_end : abi::FrameType::previous_hello;
}

std::size_t KeptBoot::write_frame(std::uint8_t* to) {
    if (stage() == Stage::end) {
        const std::size_t size = write_end(to);
        advance(std::exchange(again_, true) ? Stage::over : Stage::description);
        return size;
    }
    const std::size_t size = description_.write_piece(piece_, to);
    if (++piece_ < description_.pieces()) return size;
    piece_ = 0;
    advance(again_ ? Stage::end : Stage::records);
    return size;
}

/// Incomplete records may make one call find nothing although there are more.
bool KeptBoot::next(abi::Record& out) {
    if (merge_.next(out)) return true;
    if (merge_.empty()) advance(Stage::end);
    return false;
}

std::size_t KeptBoot::write_end(std::uint8_t* to) const {
    const abi::KeptEnd end{state_, merge_.cpus()};
    std::memcpy(to, &end, sizeof end);
    std::size_t size = sizeof end;
    for (unsigned i = 0; i < merge_.cpus(); ++i, size += sizeof(abi::KeptCpu)) {
        const abi::RingHeader& ring = merge_.header(i);
        const abi::KeptCpu cpu{
            abi::position_of(ring), ring.next_sequence, ring.in_flight,   ring.in_flight_time,
            ring.in_flight_pa,      ring.in_flight_pc,  ring.boot_number, {},
            ring.statistics};
        std::memcpy(to + size, &cpu, sizeof cpu);
    }
    return size;
}

} // namespace mmioscope
