#include "dev/own_bus.hpp"

#include "port/device.hpp"
#include "trace/region_map.hpp"
#include "trace/ring_writer.hpp"

namespace mmioscope {

namespace {
abi::Record own_record(std::uint64_t address, std::uint64_t value, std::uint8_t access,
                       const RegionMap& map) {
    abi::Record r{};
    const Span* span = map.find({address});
    r.type = abi::RecordType::own;
    r.access = access;
    r.device = span != nullptr ? span->region : abi::no_device;
    r.value = value;
    r.va = static_cast<std::uint32_t>(address);
    abi::set_physical_address(r, address);
    return r;
}
} // namespace

std::uint32_t OwnBus::read(PhysicalAddress address, unsigned log2_size) {
    const std::uint64_t time = ring_ ? ring_->begin(0, address.value) : 0;
    const auto value = static_cast<std::uint32_t>(port::device_read(address, log2_size));
    record(address, value, abi::encode_access(false, log2_size), time);
    return value;
}

bool OwnBus::poll(PhysicalAddress address, std::uint32_t mask, std::uint32_t wanted,
                  unsigned max_reads, unsigned log2_size) {
    for (;;) {
        const std::uint64_t time = ring_ ? ring_->begin(0, address.value) : 0;
        const auto value = static_cast<std::uint32_t>(port::device_read(address, log2_size));
        const bool there = (value & mask) == wanted;
        if (!there && --max_reads != 0) continue;
        record(address, value, abi::encode_access(false, log2_size), time);
        return there;
    }
}

void OwnBus::write(PhysicalAddress address, std::uint32_t value, unsigned log2_size) {
    const std::uint64_t time = ring_ ? ring_->begin(0, address.value) : 0;
    port::device_write(address, log2_size, value);
    record(address, value, abi::encode_access(true, log2_size), time);
}

void OwnBus::record(PhysicalAddress address, std::uint32_t value, std::uint8_t access,
                    std::uint64_t time) {
    if (ring_ == nullptr) {
        if (!early_.push_back({static_cast<std::uint32_t>(address.value), value, access}))
            ++forgotten_;
        return;
    }
    abi::Record r = own_record(address.value, value, access, *map_);
    r.time = time;
    r.duration = static_cast<std::uint32_t>(ring_->complete() - time);
    ring_->publish(r);
    ring_->finish();
    ++recorded_;
}

void OwnBus::attach(RingWriter& ring, const RegionMap& map) {
    for (const EarlyAccess& e : early_) {
        abi::Record r = own_record(e.address, e.value, e.access, map);
        r.flags = abi::flag_boot;
        ring.publish_event(r);
        ++recorded_;
    }
    early_.clear();
    ring_ = &ring;
    map_ = &map;
}

} // namespace mmioscope
