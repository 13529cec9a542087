#include "analysis/data_registers.hpp"

#include "reading/kept.hpp"

#include <bit>

namespace mmioscope::analysis {

std::size_t DataRegisters::slot_of(std::uint64_t place) {
    return reading::mixed(place) >> (64 - slot_bits);
}

void DataRegisters::add(const abi::Record& record) {
    const std::uint64_t place = place_of(record);
    Slot& slot = slots_[slot_of(place)];
    if (slot.place != place) {
        slot = {place, 0};
    }
    slot.values |= std::uint64_t{1} << (reading::mixed(record.value) >> 58);
}

bool DataRegisters::has(std::uint64_t place) const {
    const Slot& slot = slots_[slot_of(place)];
    return slot.place == place && std::popcount(slot.values) >= many;
}

} // namespace mmioscope::analysis
