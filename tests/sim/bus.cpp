#include "bus.hpp"

#include <algorithm>
#include <cstring>

namespace mmioscope::sim {

namespace {
std::uint64_t cut(std::uint64_t value, unsigned log2_size) {
    return log2_size == 3 ? value : value & ((std::uint64_t{1} << (8u << log2_size)) - 1);
}
} // namespace

void Bus::attach(Range range, std::unique_ptr<Device> device) {
    places_.push_back({range, std::move(device)});
}

const Bus::Place* Bus::find(std::uint64_t address) const {
    const auto found =
        std::find_if(places_.rbegin(), places_.rend(),
                     [address](const Place& place) { return place.range.contains(address); });
    return found != places_.rend() ? &*found : nullptr;
}

bool Bus::aborts(std::uint64_t address, bool write) const {
    const Place* place = find(address);
    return place != nullptr && place->device->aborts(write);
}

bool Bus::aborts_late(std::uint64_t address) const {
    const Place* place = find(address);
    return place != nullptr && place->device->aborts_late();
}

std::uint64_t Bus::carry_out(BusAccess access) {
    const Place* place = find(access.address);
    const std::uint64_t offset = place != nullptr ? access.address - place->range.begin : 0;
    access.value = cut(access.value, access.log2_size);
    if (on_arrival) on_arrival(access);
    if (!access.write && place != nullptr)
        access.value = cut(place->device->read(offset, access.log2_size), access.log2_size);
    log_.push_back(access); // before the write, which may end everything
    if (access.write && place != nullptr)
        place->device->write(offset, access.log2_size, access.value);
    return access.value;
}

std::uint32_t Bus::walk(std::uint64_t address) const {
    const Place* place = find(address);
    if (place == nullptr) return 0;
    return static_cast<std::uint32_t>(place->device->read(address - place->range.begin, 2));
}

std::uint64_t Fifo::read(std::uint64_t, unsigned) {
    return next_ += 0x0003'0103;
}

std::uint64_t Scratch::read(std::uint64_t offset, unsigned log2_size) {
    std::uint64_t value = 0;
    std::memcpy(&value, &bytes.at(offset), std::size_t{1} << log2_size);
    return value;
}

void Scratch::write(std::uint64_t offset, unsigned log2_size, std::uint64_t value) {
    std::memcpy(&bytes.at(offset), &value, std::size_t{1} << log2_size);
}

void SystemRegisters::write(std::uint64_t offset, unsigned log2_size, std::uint64_t value) {
    Scratch::write(offset, log2_size, value);
    constexpr std::uint64_t sys_cfgctrl = 0xa4;
    constexpr std::uint64_t shutdown = 0xc080'0000; // start, write, function 8 (DUI 0447 4.3.14)
    if (offset == sys_cfgctrl && value == shutdown) power_off_();
}

} // namespace mmioscope::sim
